# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of a program with one worker, by valgrind. Unlike time, that does not
depend on other processes."""
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77


def skip_without():
    if not shutil.which('valgrind'):
        print('skipped: instructions are counted by valgrind, which is not here')
        sys.exit(SKIPPED)


def count_events(command):
    """The number of instructions of a whole run, and how many of these are locked. Without what
    `meson test` asks of malloc: to fill memory that was given back."""
    done = subprocess.run(
        ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', '--collect-bus=yes',
         *command],
        env=dict(os.environ, COHORT_WORKERS='1', MALLOC_PERTURB_='0'), capture_output=True,
        text=True)  # meson bounds its time: it knows the sizes, and how slow the machine is
    collected = re.search(r'Collected : (\d+) (\d+)', done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f'{command}: status {done.returncode}\n{done.stderr}')
    return int(collected.group(1)), int(collected.group(2))


def count(command):
    """The number of instructions of a whole run."""
    return count_events(command)[0]
