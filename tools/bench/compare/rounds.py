# SPDX-License-Identifier: Apache-2.0
"""The rounds of a comparison: contenders that take turns."""
import itertools

from wrong import Wrong, complain


class Contender:
    """One of those that are compared. NAME is its column."""

    def __init__(self, name):
        self.name = name

    def columns(self):
        """Those of the text that are its own."""
        return [self.name]

    def takes(self, row):
        return True

    def job(self, rows, number):
        """The Job that measures ROWS, which share their jobs, in the round NUMBER."""
        raise NotImplementedError

    def figures(self, rows, number):
        """Runs the job. Yields row, column and figure of each of its results."""
        for result in self.job(rows, number).results():
            for row in rows:
                if row.is_of(result):
                    yield row, self.name, result["median"]

    def measure(self, rows, number):
        """False: something is missing, which has been told. Of several figures for the same, as a
        peer may have several ways, the least counts."""
        least, why = {}, None
        try:
            for row, column, figure in self.figures(rows, number):
                least[row, column] = min(figure, least.get((row, column), figure))
        except Wrong as wrong:
            why = str(wrong)
        for (row, column), figure in least.items():
            row.add(column, figure)
        missing = [row.path for row in rows if row not in {row for row, _ in least}]
        if not why and missing:
            why = f"no figure of {', '.join(missing)}"
        if why:
            complain(f"{self.name}: {why}")
        return why is None


def take_turns(rows, contenders, number):
    """In the next round another one is the first, since what comes before a job may slow it down:
    if the cores of a virtual machine were idle, its host may have moved them apart some seconds
    later."""
    first = number % len(contenders)
    is_complete = True
    for contender in contenders[first:] + contenders[:first]:
        taken = [row for row in rows if contender.takes(row)]
        if taken:
            is_complete = contender.measure(taken, number) and is_complete
    return is_complete


def run_rounds(rows, contenders, num_rounds, show):
    """SHOW is told the rows of each job when their rounds are over. False: something is missing."""
    is_complete = True
    for _, group in itertools.groupby(rows, key=lambda row: row.job):
        group = list(group)
        for number in range(1 if group[0].is_once else num_rounds):
            is_complete = take_turns(group, contenders, number) and is_complete
        show(group)
    return is_complete
