# SPDX-License-Identifier: Apache-2.0
"""coll --hosts: collectives over several hosts, beside Open MPI's tuned and HAN, and MPICH."""
import os

import hosts
import mpi
from comparison import Comparison
from job import Job
from options import passed_on
from places import Places
from row import Row, works_of
from rounds import Contender
from wrong import complain

KIB, MIB = 1 << 10, 1 << 20
INTRO = """\
Hosts x localities of each x tasks as sites of each of these: %s. The hosts are
namespaces of this machine.
Medians of the rounds, for one call; sizes are bytes, a site's, all_to_all's a pair's,
reduce_scatter's those that a site gets. tuned, han: Open MPI's collectives. spread: of Cohort's
rounds. ratio: Cohort's figure by that of the fastest other one. link: by the time in which the
stream, 1 MiB at a time from one host to another, carries what has to go over the link of a host,
whatever the algorithm."""
SIZES = 8, 4 * KIB, 64 * KIB, MIB
OF_BLOCKS = "all_to_all", "reduce_scatter", "all_gather" # one for each site
MOST_OF_SITE = 8 * MIB
LONG = 64 * KIB # bytes from which on the link is what may bind


def rows(places):
    """Without blocks of which a site would have too much; and last the stream, which has a job of
    its own, of Cohort, from one host to another."""
    works = [("barrier", 0), *((work, size) for work in ("all_reduce", "broadcast", *OF_BLOCKS)
                               for size in SIZES)]
    place = {"hosts": places.hosts, "localities": places.localities, "tasks": places.tasks}
    found = [Row(work, size, f"{work}/{size}/{places.sites}", job="hosts", place=place)
             for work, size in works
             if size * (places.sites if work in OF_BLOCKS else 1) <= MOST_OF_SITE]
    return [*found, Row("stream", MIB, f"stream/{MIB}/2", job="hosts",
                        place={"hosts": 2, "localities": 1, "tasks": 1})]


def over_link(row, places):
    """The bytes that a call has to send over the link of a host in one direction, whatever the
    algorithm: at least what the others want that only this host has, after it has reduced what its
    own sites bring; what comes in is as much. 0: blocks are short, or it is the stream."""
    if row.size < LONG or row.work == "stream":
        return 0
    others = places.sites - places.ranks
    blocks = {"all_to_all": places.ranks * others, "reduce_scatter": others, "all_gather": others,
              "all_reduce": 2 * others / places.sites, "broadcast": 1}
    return blocks[row.work] * row.size


def tell_link(some, places):
    """Sets Cohort's time as so many times that of the stream, if both were measured."""
    figures = some[-1].figures()
    if some[-1].work != "stream" or "cohort" not in figures:
        return
    for row in some:
        bound = over_link(row, places) * figures["cohort"] / some[-1].size
        if bound and "cohort" in row.figures():
            row.more["of_link"] = row.figures()["cohort"] / bound
            row.note = f"link {row.more['of_link']:.2f}"


class Cohort(Contender):
    """At PLACES: the stream of two hosts, or all that is no stream."""

    def __init__(self, places, programs, options, is_stream=False):
        super().__init__("cohort")
        self.places, self.programs, self.options = places, programs, options
        self.is_stream = is_stream

    def takes(self, row):
        return (row.work == "stream") == self.is_stream

    def job(self, rows, number):
        places = self.places
        args = self.programs.launch(places.hosts * places.localities, 1,
                                    *hosts.launch(places))
        args += ["--rounds", "1", "--seconds", str(self.options.seconds), "--works",
                 works_of(rows), "--sites-per-locality", str(places.tasks), "coll"]
        return Job(args + passed_on(self.options))


class OfMpi(Contender):
    """Blocking calls only. WORDS are for mpirun, and PARAMETERS for Open MPI."""

    def __init__(self, name, one, places, options, words, parameters=None):
        super().__init__(name)
        self.mpi, self.places, self.options = one, places, options
        self.words, self.parameters = words, parameters

    def takes(self, row):
        return row.work != "stream"

    def job(self, rows, number):
        words = [str(self.options.seconds), works_of(rows), "blocking",
                 *["fresh"] * self.options.fresh]
        return self.mpi.job(self.places.sites, words, hosts=self.words, parameters=self.parameters)


def openmpis(one, places, options):
    """Open MPI 4.1 takes HAN only where it is told to, and tuned by default. From 5 on PRRTE
    launches it, whose parameters have names of their own."""
    by_prrte = one.version.split(".")[0].isdigit() and int(one.version.split(".")[0]) >= 5
    option, agent, network = ("--prtemca", "plm_ssh_agent", "prte_if_include") if by_prrte else \
        ("--mca", "plm_rsh_agent", "oob_tcp_if_include")
    words = ["--host", hosts.names(places.hosts, places.ranks), option, agent, hosts.AGENT,
             option, network, hosts.NETWORK]
    shared = {"btl_tcp_if_include": hosts.NETWORK, "mpi_yield_when_idle": "1"}
    return [OfMpi(name, one, places, options, words, {**shared, "coll_han_priority": priority})
            for name, priority in (("tuned", "0"), ("han", "100"))]


class CollHosts(Comparison):
    def __init__(self, options):
        super().__init__(options)
        self.places = options.hosts
        self.intro = INTRO % self.places

    def all_rows(self):
        return rows(self.places)

    def rows(self):
        """And the stream, if one of these is compared with it."""
        found = super().rows()
        stream = self.all_rows()[-1]
        needs = any(over_link(row, self.places) for row in found)
        return found + [stream] * (needs and not stream.fits(self.options.only))

    def judge(self, some):
        tell_link(some, self.places)

    def contenders(self, programs):
        """MPICH's waiting processes spin. Where they share cores, a call takes a hundred times as
        long."""
        places = self.places
        found = [Cohort(Places("2x1"), programs, self.options, is_stream=True),
                 Cohort(places, programs, self.options)]
        openmpi = mpi.find(programs, "openmpi")
        if openmpi:
            self.peers["openmpi"] = openmpi.version
            found += openmpis(openmpi, places, self.options)
        cores = len(os.sched_getaffinity(0))
        if places.sites > cores:
            complain(f"left out: mpich, which spins, with {places.sites} processes on {cores} "
                     "cores")
            return found
        mpich = mpi.find(programs, "mpich")
        if mpich:
            self.peers["mpich"] = mpich.version
            words = ["-launcher", "rsh", "-launcher-exec", hosts.AGENT, "-iface", hosts.BRIDGE,
                     "-hosts", hosts.names(places.hosts, places.ranks)]
            found.append(OfMpi("mpich", mpich, places, self.options, words))
        return found
