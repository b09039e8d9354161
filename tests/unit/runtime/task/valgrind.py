# SPDX-License-Identifier: Apache-2.0
"""valgrind recognizes the stacks of fibers without options. Usage: valgrind.py PROGRAM [case...].
Status 77, which means skipped, if there is no valgrind."""
import shutil
import subprocess
import sys

if not shutil.which('valgrind'):
    print('skipped: there is no valgrind')
    sys.exit(77)
done = subprocess.run(['valgrind', '--error-exitcode=9', *sys.argv[1:]], capture_output=True,
                      text=True)
if done.returncode != 0 or 'switching stacks' in done.stderr:
    print(done.stderr)
    sys.exit(1)
