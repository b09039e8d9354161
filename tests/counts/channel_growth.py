#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what many messages take in channels grows as they do, at 10 (and 100) times as many; and
whether a message from any site costs at most twice what it costs by its site.

usage: channel_growth.py CHANNEL_MANY NUM..."""
import sys

import callgrind

NUMS = [int(num) for num in sys.argv[2:]]
FACTOR = 11 # for ten times as many; buckets of maps and the process's memory come in steps
WHATS = ['late_by_site', 'late_from_any', 'tags_by_site', 'tags_from_any', 'probe', 'waiting_gets',
         'sources', 'take_back', 'idle']
AS_BY_SITE = {'late_from_any': 'late_by_site', 'tags_from_any': 'tags_by_site'}


def main():
    callgrind.skip_without()
    failed = False
    most = {}
    start, *counted = (all_of_it for all_of_it, _ in callgrind.count_cases(
        sys.argv[1], [(WHATS[0], 0), *((what, num) for what in WHATS for num in NUMS)]))
    for i, what in enumerate(WHATS):
        counts = [count - start for count in counted[i * len(NUMS):(i + 1) * len(NUMS)]]
        most[what] = counts[-1]
        for num, count in zip(NUMS, counts):
            print(f'{what}: {num} messages, {count / num:.0f} instructions each')
        failed |= any(more > FACTOR * less for less, more in zip(counts, counts[1:]))
    for what, by_site in AS_BY_SITE.items():
        print(f'{what} takes {most[what] / most[by_site]:.2f} times as much as {by_site}')
        failed |= most[what] > 2 * most[by_site]
    sys.exit(failed)


main()
