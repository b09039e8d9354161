# SPDX-License-Identifier: Apache-2.0
"""A row of a comparison: what is measured, whom it is compared with, and the figures."""
import fnmatch
import statistics


def works_of(rows):
    """ROWS as the word for --works."""
    return ",".join(f"{work}:{row.size}" for row in rows for work in row.works)


class Row:
    """WORK and SIZE are as --works of cohort-bench has them, PLACE says in words where. Rows of the
    same JOB, one after the other, are measured together. PATH is what --only has to fit.

    LIMITS: so many times a column's figure may ours be; MOST: of ours, by itself. With FLOOR, a
    column, ratios are of what is above that one's figure. WITHIN: of these it is told how many
    rounds are within them. NOTE stands at the row's end, and MORE has further members in JSON."""

    def __init__(self, work, size, path, *, job=None, place=None, unit="us", limits=None, most=0,
                 floor=None, within=(), is_once=False, name=None, note=""):
        self.work, self.size, self.path = work, size, path
        self.name = name or work
        self.works = [work] # that are measured for it
        self.job = job or path
        self.place = place or {}
        self.unit = unit
        self.limits, self.most, self.floor = limits or {}, most, floor
        self.within = within
        self.is_once = is_once
        self.note, self.more = note, {}
        self.rounds = {}

    def fits(self, pattern):
        return pattern is None or fnmatch.fnmatchcase(self.path, pattern)

    def is_of(self, result):
        """Whether RESULT, of a job of this row, is one of it. Not all tell their size."""
        return result["name"] == self.work and result["params"]["bytes"] in (0, self.size)

    def add(self, column, figure):
        self.rounds.setdefault(column, []).append(figure)

    def figures(self):
        """The medians of the rounds."""
        return {column: statistics.median(rounds) for column, rounds in self.rounds.items()}


class Verdict:
    """How OURS, the first of these columns that has a figure, compares with the others of ROW.

    AGAINST is the one that is the hardest to reach, each relative to its limit, or, without any
    limit, the fastest one. None: there is nothing to compare with."""

    def __init__(self, row, ours):
        self.figures = row.figures()
        self.column = next((column for column in ours if self.figures.get(column)), None)
        self.against = self.ratio = self.limit = self.is_reached = None
        mine = self.figures.get(self.column, 0)
        floor = self.figures.get(row.floor, 0)
        ratios = {column: (mine - floor) / (figure - floor)
                  for column, figure in self.figures.items()
                  if column not in ours and figure > floor}
        judged = {column: ratios[column] / limit for column, limit in row.limits.items()
                  if column in ratios}
        hard = judged or ratios
        if mine and hard:
            self.against = max(hard, key=hard.get)
            self.ratio = ratios[self.against]
        if mine and judged:
            self.limit = row.limits[self.against]
            self.is_reached = self.ratio <= self.limit
        elif mine and row.most:
            self.is_reached = mine <= row.most
