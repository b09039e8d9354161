# SPDX-License-Identifier: Apache-2.0
"""The table of a comparison, as text, row by row, or as JSON at the end."""
import json
import os

from row import Verdict
from wrong import Wrong


def say(text):
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1) # else the end of the program fails, too
        raise Wrong(f"standard output can't be written: {error.strerror}") from error


def number(value, width):
    text = "-" if value is None else f"{value:.{2 if value < 1000 else 0}f}"
    return f"{text:>{width}}"


class Table:
    """REPORT is what cohort-bench says of the machine. COLUMNS are those of the text, which INTRO
    explains, and OURS are those of Cohort, the first one of which is compared. PEERS are the
    versions of others."""

    def __init__(self, options, report, columns, ours, intro, peers):
        self.options, self.report = options, report
        self.columns, self.ours, self.intro, self.peers = columns, ours, intro, peers
        self.rows = []

    def show(self, row):
        if not self.options.json:
            self.print_row(row)
        self.rows.append(row)

    def begin(self, place):
        """With the names in PLACE, which is that of a row."""
        if self.options.json:
            return
        machine = self.report["machine"]
        quick = ", --quick: not for figures" if self.options.quick else ""
        say(f"cohort-bench {self.report['version']}, {machine['cores']} cores, {machine['cpu']}, "
            f"{machine['system']}, load {machine['load']:.2f}{quick}\n")
        if self.peers:
            say(", ".join(f"{name} {version}" for name, version in self.peers.items()) + "\n")
        say(self.intro + "\n")
        places = "".join(f" {name:>10}" for name in place)
        columns = "".join(f" {name:>12}" for name in self.columns)
        say(f"{'work':18} {'size':>8}{places}{columns} unit spread  ratio")

    def print_row(self, row):
        verdict = Verdict(row, self.ours)
        places = "".join(f" {value:>10}" for value in row.place.values())
        figures = "".join(" " + number(verdict.figures.get(column), 12) for column in self.columns)
        say(f"{row.name:18} {row.size:>8}{places}{figures} {row.unit:4} "
            f"{self.spread(row, verdict):>6} {number(verdict.ratio, 6)}  "
            f"{self.tell(row, verdict)}")

    @staticmethod
    def spread(row, verdict):
        """Of the rounds of ours, from the least to the most, as a part of the median."""
        rounds = row.rounds.get(verdict.column)
        if not rounds or len(rounds) < 2:
            return "-"
        return f"{100 * (max(rounds) - min(rounds)) / verdict.figures[verdict.column]:.0f} %"

    def tell(self, row, verdict):
        """The end of a row."""
        told = []
        reached = "reached" if verdict.is_reached else "missed"
        if verdict.limit:
            shown = "" if verdict.against in self.columns else \
                f" ({verdict.figures[verdict.against]:.2f})"
            above = f" above {row.floor}" if row.floor else ""
            told.append(f"<= {verdict.limit:g} of {verdict.against}{shown}{above}: {reached}")
        elif verdict.against:
            told.append(f"of {verdict.against}")
        if verdict.is_reached is not None and not verdict.limit:
            told.append(f"<= {row.most:g} {row.unit}: {reached}")
        told += [f"{column} within " + ", ".join(f"{limit}: {percent:.0f} %"
                                                 for limit, percent in within.items())
                 for column, within in self.within(row).items()]
        return "; ".join([*told, row.note] if row.note else told) or "-"

    @staticmethod
    def within(row):
        """How many percent of each column's rounds are within the limits of ROW."""
        return {column: {str(limit): 100 * sum(one <= limit for one in rounds) / len(rounds)
                         for limit in row.within}
                for column, rounds in row.rounds.items() if row.within}

    def result(self, row):
        """What JSON has of ROW. What was not measured is left out."""
        verdict = Verdict(row, self.ours)
        judged = {"against": verdict.against, "ratio": verdict.ratio, "limit": verdict.limit,
                  "most": row.most or None, "reached": verdict.is_reached, "floor": row.floor,
                  "within": self.within(row) or None}
        return {"name": row.name, "size": row.size, **row.place, "unit": row.unit,
                "figures": verdict.figures, "rounds": row.rounds,
                **{name: value for name, value in judged.items() if value is not None}, **row.more}

    def end(self, summary=None, lines=()):
        """SUMMARY has further members in JSON; LINES are printed otherwise."""
        if self.options.json:
            head = {**self.report, "quick": self.options.quick, "peers": self.peers,
                    **(summary or {})}
            results = ",\n".join(json.dumps(self.result(row)) for row in self.rows)
            say(json.dumps(head)[:-1] + f', "results": [\n{results}\n]}}')
        elif lines:
            say("\n" + "\n".join(lines))
