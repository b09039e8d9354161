#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many instructions the operations of tasks take with one worker, and how many of those are
locked, which callgrind calls global bus events. The limits of instructions are 3 percent above what
gcc 12's -O2 takes; a release build takes fewer. Of locked ones there may be as many as there are,
plus what a round takes once.

usage: task_instructions.py TASK_CALLS [CASE...]"""
import sys

import callgrind

ROUNDS = 64, 256
# For each case of task_calls.c: the operation, how many a round has, the limits of instructions and
# of locked ones.
CASES = {
    'spawn_await': ('a task that is spawned, and awaited where it has not started', 1, 460, 0),
    'spawn_when_all': ('one of 100 tasks that are spawned and awaited together', 100, 573, 2.1),
    'fork_join': ('a spawn of fib(12)', 232, 507, 0),
    'suspend_resume': ('a task that awaits a promise, which the other one fulfils', 2, 559, 1),
    'yield': ('a yield of two tasks', 2, 389, 0),
    'then': ('a link of a chain of 100', 100, 640, 1.7),
    'when_any': ('a promise against one of 100 that all have in common', 100, 844, 18.7),
    'when_some': ('one of 1,000 promises, of which the first 500 are waited for', 1000, 291, 7.1),
    'when_each': ('one of 1,000 promises in the order of completion', 1000, 474, 7.1),
    'dataflow': ('one of 1,000 promises that are the inputs of a task', 1000, 255, 2.1),
    'deep_scope': ('a scope that is awaited, 1,000 scopes deep', 1, 1062, 13.1),
    'sleep': ('one of 1,000 sleeps that are made, and expire', 1000, 707, 4.1),
}


def takes_too_much(case, few, many):
    """Prints what an operation takes. Returns whether that is too much."""
    what, parts, *limits = CASES[case]
    # The start cancels out.
    num = (ROUNDS[1] - ROUNDS[0]) * parts
    taken = [(there - base) / num for there, base in zip(many, few)]
    print(f'{case}: {what}: {taken[0]:.1f} instructions, at most {limits[0]} wanted, '
          f'{taken[1]:.2f} of them locked, at most {limits[1]} wanted')
    return any(there > limit for there, limit in zip(taken, limits))


def main():
    callgrind.skip_without()
    program, *cases = sys.argv[1:]
    cases = cases or list(CASES)
    counts = callgrind.count_cases(program, [(case, num) for case in cases for num in ROUNDS])
    sys.exit(sum(takes_too_much(case, *counts[2 * i:2 * i + 2])
                 for i, case in enumerate(cases)) > 0)


main()
