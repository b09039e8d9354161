# SPDX-License-Identifier: Apache-2.0
"""tasks: spawning, waiting and graphs of tasks, beside oneTBB, OpenMP and the system itself."""
from comparison import Comparison
from job import Job, said
from row import Row, works_of
from rounds import Contender

INTRO = """\
Medians of the rounds, for one item; x: times the ideal. spread: of Cohort's rounds. ratio: Cohort's
figure by that of whoever it is compared with. docs/performance.md tells what the rows are."""

MILLION = 1000000
FORKS = "fib", "empty", "halves", "range_one", "range", "range_one_us", "range_us", "tree"
GRAPHS = tuple("graph_" + shape
               for shape in ("stencil", "nearest", "fft", "tree", "random", "all_to_all"))
# What each peer can do (peer_tbb.cpp, peer_openmp.c, peer_system.c).
PEERS = {"tbb": (*FORKS, "suspend", "foreign", *GRAPHS), "openmp": (*FORKS, *GRAPHS),
         "system": ("ping_pong", "sleeps", "wake", *GRAPHS)}
SYSTEM = {"ping_pong": "two threads that spin", "sleeps": "libuv", "wake": "a futex",
          **dict.fromkeys(GRAPHS, "a plain loop")}
TWO_CORES = "foreign", "wake" # with one worker: the work has a thread of its own
# Work, size, size with --quick, whose figure the limits are of (None: the unit itself), and the
# limits by workers. A peer whose tasks are calls most of the time, as those of libgomp, is only
# shown. Graphs are compared above what a plain loop takes.
WORKS = [("fib", 30, 12, "tbb", {1: 0.25, 2: 0.4}),
         ("empty", MILLION, 1000, "tbb", {1: 0.4, 2: 0.4}),
         ("halves", MILLION, 1000, "tbb", {1: 0.5, 2: 0.9}),
         ("range_one", MILLION, 1000, "openmp", {1: 0.5, 2: 0.5}),
         ("range", MILLION, 1000, "openmp", {1: 0.5, 2: 0.5}),
         ("range_one_us", 100000, 100, "openmp", {1: 1.03, 2: 1.03}),
         ("range_us", 100000, 100, "tbb", {1: 1.03, 2: 1.03}),
         ("tree", 4, 1, "tbb", {1: 0.5, 2: 0.5}),
         ("then", 100000, 1000, None, {1: 50, 2: 50}),
         ("suspend", 100000, 1000, None, {1: 80}),
         ("ping_pong", 100000, 1000, "system", {2: 4}),
         ("when_all", 1000, 100, None, {1: 40, 2: 40}),
         ("when_any", 30000, 100, None, {1: 300}),
         ("sleeps", 100000, 100, None, {1: 500}),
         ("foreign", MILLION, 1000, None, {1: 60}),
         ("wake", 100, 3, "system", {1: 2}),
         ("spread", 64, 4, None, {2: 1.15}),
         *((name, 1000, 10, "tbb", {1: 1, 2: 0.7}) for name in GRAPHS)]


def rows(is_quick):
    """Each has jobs of its own."""
    found = []
    for work, size, quick_size, against, limits in WORKS:
        for workers, limit in limits.items():
            row = Row(work, quick_size if is_quick else size, f"{work}/{workers}",
                      place={"workers": workers}, unit="x" if work == "spread" else "ns",
                      floor="system" if work in GRAPHS else None,
                      note=f"system: {SYSTEM[work]}" if work in SYSTEM else "")
            if against:
                row.limits = {against: limit}
            else:
                row.most = limit
            found.append(row)
    return found


class OfTasks(Contender):
    """ARGS begin its command. WORKS are those of a peer, which is told the workers by a word;
    Cohort can do all, and is told by a variable."""

    def __init__(self, name, args, works=None):
        super().__init__(name)
        self.args, self.works = args, works

    def takes(self, row):
        return self.works is None or row.work in self.works

    def job(self, rows, number):
        row, = rows
        workers = row.place["workers"]
        words = [str(workers)] if self.works else []
        return Job([*self.args, *words, works_of(rows)],
                   {"COHORT_WORKERS": str(workers)}, 2 if row.work in TWO_CORES else workers)


class Tasks(Comparison):
    seconds, intro = 0.2, INTRO

    def all_rows(self):
        return rows(self.options.quick)

    def contenders(self, programs):
        seconds = str(self.options.seconds)
        args = [*programs.launch(1), "--rounds", "1", "--seconds", seconds, "tasks", "--works"]
        found = [OfTasks("cohort", args)]
        for name, works in PEERS.items():
            program = programs.peer(name)
            if program:
                self.peers[name] = "".join(said(program, "--version")).strip()
                found.append(OfTasks(name, [program, seconds], works))
        return found
