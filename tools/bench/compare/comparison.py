# SPDX-License-Identifier: Apache-2.0
"""What a comparison consists of."""
import json
import os

import hosts
from job import Job
from rounds import run_rounds
from table import Table
from wrong import Wrong


class Comparison:
    """With default ROUNDS, and SECONDS of a work in a round. OURS are the columns of Cohort, the
    first of which is compared; INTRO is printed above the table."""

    rounds, seconds, quick_seconds = 3, 0.08, 0.001
    job_seconds = 180 # after which a job is taken to hang
    ours, intro = ("cohort",), ""

    def __init__(self, options):
        self.options = options
        self.peers = {} # versions, when the contenders have been found
        options.rounds = options.rounds or self.rounds
        options.seconds = options.seconds or (self.quick_seconds if options.quick else self.seconds)

    def all_rows(self):
        raise NotImplementedError

    def rows(self):
        """Those that are asked for."""
        found = [row for row in self.all_rows() if row.fits(self.options.only)]
        if not found:
            raise Wrong(f"--only '{self.options.only}' fits no row")
        return found

    def contenders(self, programs):
        """Those that are there. What is left out is told."""
        raise NotImplementedError

    def judge(self, rows):
        """What ROWS of one job say beyond the figures of each, when they have been measured."""

    def summary(self, rows):
        """What all ROWS say together, for JSON, and as lines below the table."""
        return {}, []

    def around(self, function):
        """Runs FUNCTION among the hosts that are asked for, if any are, and returns its status."""
        if not self.options.hosts:
            return function()
        os.environ["TMPDIR"] = hosts.FOLDER
        return hosts.run(hosts.names(self.options.hosts.hosts).split(","), function)

    def table(self, programs, columns):
        return Table(self.options, report_of_machine(programs), columns, self.ours, self.intro,
                     self.peers)

    def run(self, programs):
        """The status of the program."""
        rows = self.rows()
        contenders = self.contenders(programs)
        table = self.table(programs, list(dict.fromkeys(column for one in contenders
                                                        for column in one.columns())))

        def show(group):
            self.judge(group)
            for row in group:
                table.show(row)

        def measure():
            table.begin(rows[0].place)
            is_complete = run_rounds(rows, contenders, self.options.rounds, show)
            table.end(*self.summary(rows))
            return 0 if is_complete else 1
        return self.around(measure)


def report_of_machine(programs):
    """What cohort-bench says of itself and of the machine."""
    job = Job([*programs.launch(1), "--works", "nothing:0", "coll"])
    said = json.loads("".join(job.lines()))
    return {name: said[name] for name in ("machine", "version")}
