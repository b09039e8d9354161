# SPDX-License-Identifier: Apache-2.0
"""figures: what docs/performance.md shows of Cohort alone."""
from comparison import Comparison
from job import Job
from row import Row

INTRO = """\
Times are of one call. Sizes are bytes, a site's; all_to_all's a pair's, but for 1 MiB, which a site
shares out; block is what each pair then gets."""
# How many localities, and what their jobs measure.
JOBS = [(1, ["tasks", "barrier", "coll"]), (2, ["coll"]), (4, ["coll"]), (8, ["coll"]),
        (4, ["coll", "--sites-per-locality", "16"])]
# What is wanted: microseconds by name, size, localities, sites and shape.
WANTED = {("all_reduce", 8, 1, 64, "chosen"): 8, ("all_to_all", 8, 1, 64, "chosen"): 60,
          ("all_reduce", 8, 4, 4, "chosen"): 100}
PLACE = "localities", "workers", "sites", "block", "shape", "arity"
SPREAD = "median", "min", "max" # of the rounds within a job


def row_of(result):
    """The row that RESULT fills."""
    name, params = result["name"], result["params"]
    key = name, *(params[part] for part in ("bytes", "localities", "sites", "shape"))
    row = Row(name, params["bytes"], name, place={part: params[part] or "-" for part in PLACE},
              unit=result["unit"], most=WANTED.get(key, 0))
    for column in SPREAD:
        row.add(column, result[column])
    return row


class Figures(Comparison):
    rounds, seconds, job_seconds = 7, 0.02, 7200
    ours, intro = SPREAD, INTRO

    def run(self, programs):
        table = self.table(programs, SPREAD)
        table.begin(PLACE)
        for localities, words in JOBS:
            args = [*programs.launch(localities), "--rounds", str(self.options.rounds), "--seconds",
                    str(self.options.seconds), *words]
            for result in Job(args, {"COHORT_WORKERS": "1"}).results():
                table.show(row_of(result))
        table.end()
        return 0
