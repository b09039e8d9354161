#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which files each file may include: the table of layers.

usage: include_graph.py ROOT"""
import os
import re
import sys

import house

# The folder of each layer, and the layers that it may use besides `base` and itself.
LAYERS = {
    "base": ("runtime/base", ()),
    "task": ("runtime/task", ()),
    "loop": ("runtime/loop", ("task",)),
    "io": ("runtime/io", ("task", "loop")),
    "wire": ("runtime/wire", ()),
    "net": ("runtime/net", ("loop", "wire")),
    "names": ("runtime/names", ("wire",)),
    "proc": ("runtime/proc", ("task", "loop", "wire", "net", "names")),
    "remote": ("runtime/remote", ("task", "loop", "wire", "net", "proc")),
    "launch": ("runtime/launch", ("task", "loop", "wire", "net", "names")),
    "job": ("runtime/job",
            ("task", "loop", "io", "wire", "net", "names", "proc", "remote", "launch")),
    "plan": ("collectives/plan", ()),
    "algo": ("collectives/algo", ("plan",)),
    "model": ("collectives/model", ("plan", "algo")),
    "comm": ("collectives/comm", ("plan", "proc", "task", "wire")),
    "exec": ("collectives/exec", ("plan", "comm", "task")),
    "coll": ("collectives/coll", ("exec", "model", "algo", "plan", "comm", "task", "wire")),
}

# Programs, by the beginnings of their files' paths: the layers that they may use besides `base`,
# and single headers of further layers. Programs that are not listed may use only public headers;
# examples may also use their own headers. SHARE has what the programs share, and all of them may
# use it.
PROGRAMS = {
    "tools/cohortrun/": (("loop", "wire"),
                         ("runtime/net/hub", "runtime/launch/launcher", "runtime/launch/control",
                          "runtime/launch/binding", "runtime/launch/domain")),
    "tools/trace/": ((), ()),
    "tools/info/": ((), ("runtime/job/settings", "runtime/net/ofi_list")),
    "tools/sim/": (("plan", "algo", "model"), ()),
    "tools/share/trial": (("plan", "algo"), ()),
    "tools/share/elf_symbols": ((), ()),
    "tools/share/host_list": ((), ()),
    "tools/share/wait_words": ((), ()),
    "tools/tune/": (("plan", "algo", "model"), ()),
    "tools/bench/kernels": ((), ("collectives/exec/kernels",)),
    "tools/bench/select": (("plan", "algo", "model"), ()),
}
SHARE = "tools/share"

# The headers of examples that a program may use, since it measures the same; and of cohort-trace,
# since cohortrun joins traces, too.
OTHERS = {("tools/bench/graph.h", "examples/shape.h"),
          ("tools/bench/peer_poisson.c", "examples/poisson_box.h"),
          ("tools/cohortrun/host.h", "tools/trace/clocks.h"),
          ("tools/cohortrun/job_trace.c", "tools/trace/join.h"),
          ("tools/cohortrun/trace_part.c", "tools/trace/part.h")}

# Headers of the dependencies, and which files may include them, by the beginnings of their paths.
FOREIGN = {
    r"uv\.h|uv/.*": ("runtime/loop/", "runtime/io/", "include/cohort/uv.h",
                     "tools/bench/peer_system", "tests/counts/all_reduce_calls",
                     "tests/multi/embed_uv", "tests/cross/simulated_files"),
    r"glib(\.h|-.*)": ("tests/multi/embed_glib",),
    r"msgpack(\.h|/.*)": ("runtime/wire/", "include/cohort/msgpack.h"),
    r"rdma/.*": ("runtime/net/ofi",),
    r"pmix.*\.h": ("runtime/launch/pmix_",),
    r"elfutils/.*": ("tools/cohortrun/status/source",),
    r"hwloc(\.h|/.*)": ("runtime/task/", "runtime/launch/domain", "tools/cohortrun/binding"),
}

# No threads, no clock, no I/O.
PURE = ("collectives/plan/", "collectives/algo/", "collectives/model/")
IMPURE = re.compile(r"(pthread|threads|stdatomic|signal|time|unistd|fcntl|poll|sched)\.h|sys/.*")

# Files in such a folder may include only these files of their own layer: tools know no algorithms.
INNER = {
    "collectives/algo/pattern/": ("collectives/algo/pattern/", "collectives/algo/algorithm.h"),
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]*)[>"]', re.M)


def layer_of(path):
    for layer, (folder, _) in LAYERS.items():
        if path.startswith(folder + "/"):
            return layer
    return None


def rights(path):
    """The layers, and the beginnings of further headers, that the file PATH may include. None:
    any."""
    if path.startswith("tests/unit/"):
        path = path[len("tests/unit/"):]
        if path.startswith("tools/"):
            return None
    elif path.startswith("tests/"):
        return None
    if path.startswith("examples/"):
        return set(), ("examples/",)
    layer = layer_of(path)
    if layer:
        return {"base", layer, *LAYERS[layer][1]}, ()
    if path.startswith("tools/"):
        for start, (layers, headers) in PROGRAMS.items():
            if path.startswith(start):
                return {"base", *layers}, headers
    return set(), ()


def program_of(path):
    """The folder of a program of tools/, which may have folders of its own."""
    return "/".join(path.split("/")[:2])


def check_project(path, name, target):
    """PATH includes the project's header TARGET as NAME. Returns what is wrong with that, or
    None."""
    if target.startswith("include/") or (path, target) in OTHERS:
        return None
    if path.startswith("include/"):
        return "a public header includes an internal one"
    if target.startswith("tests/"):
        return None if path.startswith("tests/") else "only tests include tests' headers"
    own = program_of(path)
    if path.startswith("tools/") and target.startswith("tools/"):
        return None if program_of(target) in (own, SHARE) else "another program's header"
    for folder, inner in INNER.items():
        if path.startswith(folder) and layer_of(target) == layer_of(path) \
                and not target.startswith(inner):
            return f"of its layer, {folder} may use {', '.join(inner)} only"
    allowed = rights(path)
    if allowed is None:
        return None
    layers, headers = allowed
    layer = layer_of(target)
    if layer in layers or any(target.startswith(start) for start in headers):
        return None
    return f"may use {', '.join(sorted(layers)) or 'public headers'} only"


def check_foreign(path, name):
    source = path[len("tests/unit/"):] if path.startswith("tests/unit/") else path
    for pattern, owners in FOREIGN.items():
        if re.fullmatch(pattern, name) and not source.startswith(owners):
            return f"belongs to {', '.join(owners)}"
    if source.startswith(PURE) and path == source and IMPURE.fullmatch(name):
        return "plans, algorithms and models use no threads, no clock and no I/O"
    return None


def check(root, path, present):
    for mark, name in INCLUDE.findall(house.read(root, path)):
        target = next((at for at in (name, "include/" + name) if at in present), None)
        if ".." in name.split("/"):
            wrong = "no way upwards: includes are relative to the root"
        elif target is None and mark == '"':
            wrong = "no such file relative to the root or to include/"
        elif target is None:
            wrong = check_foreign(path, name)
        elif name.startswith("include/"):
            wrong = 'public headers are included as "cohort/..."'
        elif mark == "<" and not path.startswith(("examples/", "tools/", "tests/")):
            wrong = "headers of the project are included in quotes"
        else:
            wrong = check_project(path, name, target)
        if wrong:
            yield f"{path}: {name}: {wrong}"


def main():
    root = sys.argv[1]
    present = set(house.files(root))
    sources = [path for path in sorted(present) if path.endswith((".c", ".cpp", ".h", ".S"))]
    house.finish([wrong for path in sources for wrong in check(root, path, present)],
                 len(sources))


if __name__ == "__main__":
    main()
