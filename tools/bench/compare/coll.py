# SPDX-License-Identifier: Apache-2.0
"""coll: collectives on one host, beside Open MPI, MPICH and fi_pingpong."""
import os
import shutil
import time

import mpi
from comparison import Comparison
from job import Job
from options import passed_on
from pingpong import Pingpong
from row import Row, works_of
from rounds import Contender
from wrong import Wrong, complain

NETS = "shm", "ofi"
INTRO = """\
Medians of the rounds, for one call; sizes are bytes, a site's, all_to_all's a pair's. _wait: the
non-blocking call and MPI_Wait. acoll, ucc, xhc: Open MPI with that component. spread: of Cohort's
rounds. ratio: Cohort's first figure (ofi_ping_pong: that over ofi) by that of whoever is the
hardest to reach. docs/performance.md tells what the rows are."""

KIB, MIB = 1 << 10, 1 << 20
# How many times the figure Cohort's may be: of an MPI's blocking call, and of its non-blocking one
# with MPI_Wait. 0: it is only shown.
SHORT = {2: (1.5, 1), 4: (1, 1), 8: (0.7, 0.7), 16: (0.7, 0.7), 32: (0.7, 0.7)}
LONG = dict.fromkeys(SHORT, (0.8, 0.8))
# Measured at all of these numbers of localities.
WORKS = [("barrier", 0, SHORT), ("all_reduce", 8, SHORT), ("all_to_all", 8, SHORT),
         ("all_to_all", 64 * KIB, {**LONG, 32: (0.65, 0.65)}), ("all_reduce", 64 * KIB, LONG),
         ("all_reduce", MIB, LONG), ("broadcast", 64 * KIB, LONG), ("broadcast", MIB, LONG)]
# Besides those above. A stream's time is that of one of its messages: half of the time is twice the
# bandwidth. An all_gather has the square of the number of localities as many blocks in all.
MORE = {2: [("ping_pong", 8, (1.5, 1.5)), ("stream", MIB, (0.5, 0.5)), ("rate", 8, (1, 1)),
            ("halo", 32 * KIB, (1, 1)), ("halo", 256 * KIB, (1, 1)), ("halo", 2 * MIB, (1, 1)),
            *((work, size, (0.5, 0.5)) for work in ("get", "put") for size in (8, 4 * KIB, MIB)),
            ("add", 8, (0.5, 0.5))],
        4: [("all_gather", 64 * KIB, (0.8, 0.8)), ("all_gather", MIB, (0.8, 0.8))]}
OVERLAP_US = 200 # that overlap computes


def limits(blocking, nonblocking):
    both = {"": blocking, "_wait": nonblocking}
    return {name + form: limit for name in ("openmpi", "mpich") for form, limit in both.items()
            if limit}


class CollRow(Row):
    """KIND: works within a job, the time of a whole job, the memory of an idle process, which does
    not vary, or over ofi."""

    def __init__(self, work, size, num, *, kind="works", name=None, **options):
        super().__init__(work, size, f"{name or work}/{size}/{num}", job=(kind, num),
                         place={"localities": num}, is_once=kind == "memory", name=name, **options)
        self.kind, self.num = kind, num


def rows():
    """Those of the same job follow each other."""
    found = []
    for num in SHORT:
        found += [CollRow(work, size, num, limits=limits(*of[num])) for work, size, of in WORKS]
        if num == 2: # no overlap can be faster than the longer one of both parts
            found.append(CollRow("overlap", 64 * KIB, num, limits={"longer": 1.1}))
            found[-1].works = ["exchange", "overlap"] # the same without computing
        found += [CollRow(work, size, num, limits=limits(*of))
                  for work, size, of in MORE.get(num, [])]
    found += [CollRow("nothing", 0, 32, kind="job", limits=limits(0.5, 0)),
              CollRow("memory_rss", 0, 64, kind="memory", unit="MiB", limits={"given": 1}),
              CollRow("memory_pss", 0, 64, kind="memory", unit="MiB")]
    found[-2].add("given", 6)
    # fi_pingpong's bandwidth is also that of single messages: 0.8 of it is 1.25 of the time.
    return found + [CollRow("ping_pong", size, 2, kind="ofi", name="ofi_ping_pong",
                            limits={"fi_pingpong": limit}) for size, limit in ((8, 1.3),
                                                                               (MIB, 1.25))]


class OfJobs(Contender):
    """One whose jobs are timed as a whole, too. One of them tells what is longer, computing or the
    exchange."""

    tells_longer = False

    def column(self, result):
        """Where RESULT belongs."""
        return self.name

    def figures(self, rows, number):
        start = time.monotonic()
        for result in self.job(rows, number).results():
            for row in rows:
                if row.is_of(result):
                    yield row, self.column(result), result["median"]
                elif self.tells_longer and row.work == "overlap" and result["name"] == "exchange":
                    yield row, "longer", max(OVERLAP_US, result["median"])
        for row in rows:
            if row.kind == "job":
                yield row, self.name, (time.monotonic() - start) * 1e6


class Cohort(OfJobs):
    def __init__(self, net, programs, options, is_first):
        super().__init__("cohort_" + net)
        self.net, self.programs, self.options = net, programs, options
        self.tells_longer = is_first

    def takes(self, row):
        return row.kind != "ofi" or self.net == "ofi"

    def job(self, rows, number):
        args = [*self.programs.launch(rows[0].num), "--rounds", "1", "--seconds",
                str(self.options.seconds), "--works", works_of(rows), "coll"]
        return Job(args + passed_on(self.options), {"COHORT_NET": self.net})


class OfMpi(OfJobs):
    """An MPI, or Open MPI with the COMPONENT that has the column."""

    def __init__(self, one, options, component=None):
        super().__init__(component or one.name)
        self.mpi, self.options, self.component = one, options, component

    def takes(self, row):
        return row.kind == "works" or row.kind != "ofi" and not self.component

    def column(self, result):
        return self.name + "_wait" * (result["params"]["shape"] == "wait")

    def columns(self):
        return super().columns() + [self.name + "_wait"] * (not self.component)

    def job(self, rows, number):
        words = [str(self.options.seconds), works_of(rows), *["blocking"] * bool(self.component),
                 *["fresh"] * self.options.fresh]
        return self.mpi.job(rows[0].num, words, parameters=mpi.COMPONENTS.get(self.component))


def nets(programs):
    """The transports that this build can use here. If COHORT_NET names one, it is that, and if it
    is wrong, the first job says so."""
    given = os.environ.get("COHORT_NET")
    if given:
        return [given]
    args = [*programs.launch(2), "--works", "nothing:0", "coll"]
    found = [net for net in NETS if Job(args, {"COHORT_NET": net}).is_fine()]
    if not found:
        raise Wrong("no job of Cohort succeeds here")
    return found


class Coll(Comparison):
    ours, intro = tuple("cohort_" + net for net in NETS), INTRO

    def all_rows(self):
        return rows()

    def contenders(self, programs):
        found = [Cohort(net, programs, self.options, is_first=not number)
                 for number, net in enumerate(nets(programs))]
        for name in "openmpi", "mpich":
            one = mpi.find(programs, name)
            if one:
                self.peers[name] = one.version
                found.append(OfMpi(one, self.options))
            if one and name == "openmpi":
                found += [OfMpi(one, self.options, component) for component in mpi.components()]
        if shutil.which("fi_pingpong"):
            found.append(Pingpong("fi_pingpong", self.options.seconds))
        else:
            complain("left out: fi_pingpong, which is not there")
        return found
