# SPDX-License-Identifier: Apache-2.0
"""Where cohort-compare begins."""
import os
import signal
import subprocess
import sys

import hosts
import options
from choice import Select
from coll import Coll
from coll_hosts import CollHosts
from figures import Figures
from hierarchy import Hierarchy
from programs import Programs
from spread import Spread
from tasks import Tasks
from wrong import PROGRAM, Wrong, complain

COMPARISONS = {"coll": Coll, "tasks": Tasks, "figures": Figures, "spread": Spread,
               "hierarchy": Hierarchy, "select": Select}


def run(args):
    """The status of the program."""
    if args[:1] == ["among"]: # what follows is for the command
        if len(args) < 3:
            raise Wrong("among needs names of hosts, 'h0,h1' for instance, and a command")
        return hosts.run_command(args[1].split(","), args[2:])
    if "--help" in args:
        print(options.__doc__)
        return 0
    if "--version" in args:
        version = subprocess.check_output([Programs().bench, "--version"], text=True).split()[-1]
        print(PROGRAM, version)
        return 0
    given = options.read(args)
    if "COHORT_LOCALITY" in os.environ:
        raise Wrong(f"{given.comparison} starts its own jobs: run it without cohortrun")
    kind = COMPARISONS[given.comparison]
    if kind is Coll and given.hosts:
        kind = CollHosts
    return kind(given).run(Programs(given.cohortrun, kind.job_seconds))


def main():
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return run(sys.argv[1:])
    except Wrong as wrong:
        complain(wrong)
    return 1


sys.exit(main())
