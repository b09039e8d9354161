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


def count(command):
    """The number of instructions of a whole run."""
    done = subprocess.run(
        ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *command],
        env=dict(os.environ, COHORT_WORKERS='1'), capture_output=True, text=True, timeout=100)
    collected = re.search(r'Collected : (\d+)', done.stderr)
    if done.returncode != 0 or not collected:
        sys.exit(f'{command}: status {done.returncode}\n{done.stderr}')
    return int(collected.group(1))
