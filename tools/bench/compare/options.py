# SPDX-License-Identifier: Apache-2.0
"""usage: cohort-compare [options] coll|tasks|figures|spread|hierarchy|select
       cohort-compare among HOST,... COMMAND...

Compares Cohort with others, or its own ways with each other, in turns, by jobs of cohort-bench, and
prints a table of medians.

  coll       collectives beside Open MPI, MPICH and fi_pingpong, as far as they are there
  tasks      tasks beside oneTBB, OpenMP and the system itself
  figures    those that docs/performance.md shows of Cohort alone
  spread     how well the computing of 64 tasks comes to all workers, pinned and movable, as so
             many times the ideal: burst: an all_reduce, then 2 ms each; sleep and reduce: five
             rounds of 0.5 to 4 ms, each with a sleep or an all_reduce at its end; threads: the
             same as burst by threads, without tasks; a process each, with COHORT_WORKERS
  hierarchy  all_to_all of 64 sites flat, over trees, and as the library chooses
  select     the library's choice of algorithms beside the fastest one, over collectives, 2 to 32
             sites and 8 B to 4 MiB
  among      runs a command among hosts that are namespaces of this machine, as root; cohortrun
             reaches them with --listen 10.77.0.1 --agent '/run/agent {host}'

  --json                   print one JSON object instead of a table, with all rounds
  --rounds R               1 to 999; default 3; spread: 20; figures, hierarchy: 7
  --seconds S              of each work in a round, 0.001 to 100; default 0.08; tasks: 0.2; figures,
                           hierarchy: 0.02
  --quick                  rounds of 1 ms, and small works: for a test of this program, not for
                           figures
  --only PATTERN           only such rows: 'all_reduce/*/2' (work, bytes, localities or, with
                           --hosts, sites), 'fib/2' (workers), 'burst', 'all_to_all/8/*',
                           'all_reduce/64/1x8x1' (select: hosts x localities x tasks as sites)
  --hosts HxL              coll, select: over H hosts with L localities each, 2x4 for instance; the
                           hosts are namespaces of this machine, made and removed by this program,
                           as root; HxLxT: and T tasks as sites of each locality
  --fresh                  coll: each site writes to all lines of its input before each call, so
                           that no other core has them in its cache; the time for that is counted
  --lent                   coll: Cohort's inputs and outputs are from cohort_memory_alloc
  --by-call                select: algorithms take turns by a few calls, not by rounds: one call
                           that is not timed, then four that are, or one if they take long; with a
                           barrier behind each where no site waits for all others
  --limit SECONDS          select: what is not measured then is left out; default 570
  --cohortrun PATH         the launcher; default: the one beside this program
  --help, --version

The status is 0, 1 after an error, or if a figure is missing, and 2 for a wrong option."""
import argparse
import re
import sys

import hosts
from places import Places
from wrong import PROGRAM, complain

COMPARISONS = "coll", "tasks", "figures", "spread", "hierarchy", "select"
# Options of some of them alone.
ONLY_OF = {"hosts": ("coll", "select"), "fresh": ("coll",), "lent": ("coll",),
           "by_call": ("select",), "limit": ("select",),
           "only": ("coll", "tasks", "spread", "hierarchy", "select")}
MOST_SITES = 128
HOSTS = re.compile(r"[1-9]\d{0,2}x[1-9]\d{0,2}(x[1-9]\d{0,2})?")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        complain(message)
        print(__doc__.splitlines()[0], file=sys.stderr)
        sys.exit(2)


def number(kind, least, most):
    """What reads a number of that KIND."""
    def read(text):
        if re.fullmatch(r"[0-9.eE+-]+" if kind is float else r"\d{1,9}", text):
            try:
                if least <= kind(text) <= most:
                    return kind(text)
            except ValueError:
                pass
        raise argparse.ArgumentTypeError(f"needs a number from {least} to {most}, not '{text}'")
    return read


def places(text):
    if HOSTS.fullmatch(text):
        found = Places(text)
        if 2 <= found.hosts <= hosts.MOST and found.sites <= MOST_SITES:
            return found
    raise argparse.ArgumentTypeError(f"needs HxL or HxLxT, 2 to {hosts.MOST} hosts and at most "
                                     f"{MOST_SITES} sites, not '{text}'")


def passed_on(options):
    """What cohort-bench is told as well."""
    return [f"--{name}" for name in ("fresh", "lent") if getattr(options, name)]


def read(args):
    parser = Parser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--lent", action="store_true")
    parser.add_argument("--by-call", action="store_true")
    parser.add_argument("--limit", type=number(int, 1, 86400))
    parser.add_argument("--rounds", type=number(int, 1, 999))
    parser.add_argument("--seconds", type=number(float, 0.001, 100))
    parser.add_argument("--only")
    parser.add_argument("--hosts", type=places)
    parser.add_argument("--cohortrun")
    parser.add_argument("comparison", choices=COMPARISONS)
    options = parser.parse_args(args)
    for name, some in ONLY_OF.items():
        if getattr(options, name) and options.comparison not in some:
            parser.error(f"--{name.replace('_', '-')} is for {' and '.join(some)}")
    return options
