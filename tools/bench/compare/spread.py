# SPDX-License-Identifier: Apache-2.0
"""spread: how well computing comes to all workers, with pinned tasks and with movable ones."""
import os

from comparison import Comparison
from job import Job
from row import Row
from rounds import Contender

INTRO = """\
Each round is a process. Figures are times of the ideal one, in which all cores compute all the
time. docs/performance.md tells what the rows are."""
# It is told how many rounds are within these.
WORKS = {"burst": (1.15, 1.3), "sleep": (1.15, 1.5), "reduce": (1.15, 1.5), "threads": (1.15, 1.3)}


class OfTasks(Contender):
    """COHORT_TASKS is its name. Each row has a process of its own, since the first burst of one is
    the hard one. The number of the round also says which times are drawn."""

    def __init__(self, name, programs, options):
        super().__init__(name)
        self.programs, self.options = programs, options

    def figures(self, rows, number):
        for row in rows:
            args = [*self.programs.launch(1), "tasks", "--works", f"{row.work}:{number + 1}"]
            job = Job(args + ["--quick"] * self.options.quick,
                      {"COHORT_TASKS": self.name, "COHORT_WORKERS": row.place["workers"]})
            for result in job.results():
                yield row, self.name, result["median"]


class Spread(Comparison):
    rounds = 20
    ours, intro = ("pinned",), INTRO

    def all_rows(self):
        workers = os.environ.get("COHORT_WORKERS") or str(len(os.sched_getaffinity(0)))
        return [Row(work, 64, work, job="spread", place={"workers": workers}, unit="x",
                    within=limits) for work, limits in WORKS.items()]

    def contenders(self, programs):
        return [OfTasks(name, programs, self.options) for name in ("pinned", "movable")]
