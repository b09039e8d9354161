# SPDX-License-Identifier: Apache-2.0
"""usage: cohort-compare [options] coll|tasks
       cohort-compare among HOST,... COMMAND...

Compares Cohort with others, in turns, by jobs of cohort-bench, and prints a table of medians.

  coll       collectives beside Open MPI, MPICH and fi_pingpong, as far as they are there
  tasks      tasks beside oneTBB, OpenMP and the system itself
  among      runs a command among hosts that are namespaces of this machine, as root; cohortrun
             reaches them with --listen 10.77.0.1 --agent '/run/agent {host}'

  --json                   print one JSON object instead of a table, with all rounds
  --rounds R               1 to 999; default 3
  --seconds S              of each work in a round, 0.001 to 100; default 0.08, tasks: 0.2
  --quick                  rounds of 1 ms, and small works: for a test of this program, not for
                           figures
  --only PATTERN           only such rows, 'all_reduce/*/2' or 'fib/2' for instance
  --hosts HxL              coll: over H hosts with L localities each, 2x4 for instance; the hosts
                           are namespaces of this machine, made and removed by this program, as
                           root; HxLxT: and T tasks as sites of each locality
  --fresh                  coll: each site writes to all lines of its input before each call, so
                           that no other core has them in its cache; the time for that is counted
  --cohortrun PATH         the launcher; default: the one beside this program
  --help, --version

The status is 0, 1 after an error, or if a figure is missing, and 2 for a wrong option."""
import argparse
import os
import re
import signal
import subprocess
import sys

import coll_hosts
import hosts
from coll import Coll
from programs import Programs
from tasks import Tasks
from wrong import PROGRAM, Wrong, complain

JOB_SECONDS = 180 # after which a job of others is taken to hang
COMPARISONS = {"coll": Coll, "tasks": Tasks}
# Options of some of them alone.
ONLY_OF = {"hosts": ("coll",), "fresh": ("coll",)}
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
        found = coll_hosts.Places(text)
        if 2 <= found.hosts <= hosts.MOST and found.sites <= MOST_SITES:
            return found
    raise argparse.ArgumentTypeError(f"needs HxL or HxLxT, 2 to {hosts.MOST} hosts and at most "
                                     f"{MOST_SITES} sites, not '{text}'")


def read_options(args):
    parser = Parser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
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


def run(args):
    """The status of the program."""
    if args[:1] == ["among"]:
        if len(args) < 3:
            raise Wrong("among needs names of hosts, 'h0,h1' for instance, and a command")
        return hosts.run_command(args[1].split(","), args[2:])
    options = read_options(args)
    if "COHORT_LOCALITY" in os.environ:
        raise Wrong(f"{options.comparison} starts its own jobs: run it without cohortrun")
    programs = Programs(options.cohortrun, JOB_SECONDS)
    kind = coll_hosts.CollHosts if options.hosts else COMPARISONS[options.comparison]
    return kind(options).run(programs)


def main():
    args = sys.argv[1:]
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if "--help" in args and args[0] != "among":
        print(__doc__)
        return 0
    if "--version" in args and args[0] != "among":
        print(PROGRAM, subprocess.check_output([Programs().bench, "--version"],
                                               text=True).split()[-1])
        return 0
    try:
        return run(args)
    except Wrong as wrong:
        complain(wrong)
    return 1


sys.exit(main())
