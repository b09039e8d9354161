# SPDX-License-Identifier: Apache-2.0
"""select: the library's choice of algorithms beside the fastest one of all that can do the call."""
import contextlib
import statistics
import time

import hosts
from comparison import Comparison
from job import Job
from places import Places
from row import Row, works_of
from rounds import Contender
from wrong import Wrong, complain

INTRO = """\
The library's choice against the algorithm that was the fastest of all that can do it: microseconds
of one call, in turns by %s within a job. The regret is the median of the turns' ratios. The shape
is hosts x localities of each x sites in each."""
SIZES = 8, 64, 512, 4096, 32768, 262144, 2097152, 4194304
COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "broadcast", "exclusive_scan", "gather",
               "reduce", "reduce_scatter", "scan", "scatter", "shift")
SITES = 2, 3, 4, 5, 8, 16, 32
# Tasks of one locality; localities of one host, as more of them, even idle ones, would disturb; and
# tasks in several localities.
SHAPES = [*(f"1x1x{num}" for num in SITES), *(f"1x{num}x1" for num in SITES), "1x2x2", "1x2x4",
          "1x4x4", "1x2x16"]
MEDIAN, WORST = 1.1, 1.5 # what is wanted
NUM_WORST = 10           # that are told
LIMIT = 570              # seconds


class Points(Contender):
    """Measures the rows of one shape in one job, until its time is over. END is that of all, and
    WEIGHT that of the rows that are still to come: a job's time is in proportion to its sites, and
    what one leaves over goes to the next ones."""

    def __init__(self, programs, options, rows):
        super().__init__("select")
        self.programs, self.options = programs, options
        self.end = time.monotonic() + (options.limit or LIMIT)
        self.weights = {row.job: Places(row.job).sites for row in rows}

    def columns(self):
        return ["selected", "best"]

    def job(self, rows, number):
        places = Places(rows[0].job)
        args = self.programs.launch(places.hosts * places.localities, 1, *hosts.launch(places))
        args += ["--works", works_of(rows), "--sites-per-locality", str(places.tasks), "select"]
        return Job(args + ["--quick"] * self.options.quick + ["--by-call"] * self.options.by_call,
                   {"COHORT_WORKERS": "1"})

    def deadline(self, rows):
        now = time.monotonic()
        left = max(self.end - now, 0) / sum(self.weights.values())
        return now + max(left * self.weights.pop(rows[0].job), 1)

    def measure(self, rows, number):
        end = self.deadline(rows)
        to_come = {(row.work, row.size): row for row in rows}
        try:
            with contextlib.closing(self.job(rows, number).results()) as results:
                for result in results:
                    tell(to_come.pop((result.pop("name"), result.pop("bytes"))), result)
                    if time.monotonic() > end:
                        break
        except Wrong as wrong:
            complain(f"{rows[0].job}: {wrong}")
            return False
        for row in to_come.values():
            row.note = "late"
        return True


def tell(row, result):
    """What RESULT says of its ROW."""
    if not result["rows"]:
        row.note = "too large"
        return
    row.add("selected", result["selected_us"])
    row.add("best", result["best_us"])
    row.more = {"rows": result["rows"], "selected": result["selected"], "best": result["best"],
                "regret": result["regret"]}
    row.note = "{selected}, best of {rows}: {best}; regret {regret:.2f}".format(**row.more)


class Select(Comparison):
    ours, job_seconds = ("selected",), 7200

    def __init__(self, options):
        super().__init__(options)
        self.intro = INTRO % ("calls" if options.by_call else "rounds")

    def all_rows(self):
        """The barrier has one size, and is first."""
        shapes = [str(self.options.hosts)] if self.options.hosts else SHAPES
        works = [("barrier", 0), *((work, size) for size in SIZES for work in COLLECTIVES)]
        return [Row(work, size, f"{work}/{size}/{shape}", job=shape, place={"shape": shape},
                    is_once=True) for shape in shapes for work, size in works]

    def contenders(self, programs):
        return [Points(programs, self.options, self.rows())]

    def summary(self, rows):
        regrets = {row: row.more["regret"] for row in rows if row.more}
        if not regrets:
            raise Wrong("nothing was measured: the time (--limit) was over, or it needs too much "
                        "memory")
        found = {"num_points": len(regrets), "too_large": sum(row.note == "too large"
                                                              for row in rows),
                 "late": sum(row.note == "late" for row in rows),
                 "median": statistics.median(regrets.values()), "worst": max(regrets.values())}
        lines = [f"{len(regrets)} points; left out as they need too much memory: "
                 f"{found['too_large']}, as the time was over: {found['late']}",
                 *(f"{name} regret {found[name]:.3f}, at most {most} wanted: " +
                   ("reached" if found[name] <= most else "missed")
                   for name, most in (("median", MEDIAN), ("worst", WORST)))]
        worst = sorted(regrets, key=regrets.get)[:-NUM_WORST - 1:-1]
        return found, lines + [f"worst: {row.path}: {row.note}" for row in worst
                               if regrets[row] > MEDIAN]
