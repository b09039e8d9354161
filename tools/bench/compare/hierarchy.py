# SPDX-License-Identifier: Apache-2.0
"""hierarchy: all_to_all of 64 sites flat, over trees, and as the library chooses."""
from comparison import Comparison
from job import Job
from row import Row, works_of
from rounds import Contender

INTRO = """\
all_to_all of 64 sites; sizes are a pair's bytes. flat: linear; tree: hierarchical, of this arity
whatever the number of sites; chosen: default options with this arity. ratio: chosen_4 by the
fastest other one."""
SITES = 64
SIZES = 8, 64, 512, 4096, 32768
ARITIES = 2, 4, 8
# Localities, and workers of each.
FRAMES = (1, 1), (1, 2), (4, 1), (4, 2)


class Shape(Contender):
    """WORDS are what its jobs are told besides the works."""

    def __init__(self, name, words, programs, options):
        super().__init__(name)
        self.words, self.programs, self.options = words, programs, options

    def job(self, rows, number):
        localities, workers = rows[0].job
        args = [*self.programs.launch(localities, workers), "--rounds", "1", "--seconds",
                str(self.options.seconds), "--works", works_of(rows),
                "--sites-per-locality", str(SITES // localities), "coll", *self.words]
        return Job(args, {"COHORT_WORKERS": str(workers)})


class Hierarchy(Comparison):
    rounds, seconds = 7, 0.02
    ours, intro = ("chosen_4",), INTRO

    def all_rows(self):
        return [Row("all_to_all", size, f"all_to_all/{size}/{localities}/{workers}",
                    job=(localities, workers),
                    place={"localities": localities, "workers": workers})
                for localities, workers in FRAMES for size in SIZES]

    def contenders(self, programs):
        words = {"flat": ["--algorithms", "all_to_all=linear"]}
        for arity in ARITIES:
            words[f"tree_{arity}"] = ["--algorithms", "all_to_all=hierarchical", "--arity",
                                      str(arity)]
        for arity in ARITIES:
            words[f"chosen_{arity}"] = ["--arity", str(arity)]
        return [Shape(name, some, programs, self.options) for name, some in words.items()]
