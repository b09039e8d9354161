#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/demo and tools/test on each Debian that Cohort is built on, as somebody who is new there
runs them: in a root made by debootstrap, with nothing else installed. Prints each system's row of
the table in docs/BUILDING.md; --write puts it there.

Skipped without root, debootstrap or a mirror of Debian (the one of apt here is used). Takes ten
minutes of two cores and 5 GB below the folder for temporary files for each.

usage: debians.py ROOT [--write] [SUITE...]"""
import datetime
import os
import re
import shutil
import sys

import debian
import house

SYSTEMS = {"bookworm": "Debian 12", "trixie": "Debian 13", "testing": "Debian testing"}
TOOLS = ("apt-get", "debootstrap", "unshare")
PAGE = "docs/BUILDING.md"
CHECKOUT = "/srv/cohort"  # tests run programs as other users, who may not look into /root
# The columns of the table: packages, whose first one that is there counts.
COLUMNS = {"gcc": ("gcc",), "glibc": ("libc6",), "libuv": ("libuv1-dev",),
           "libfabric": ("libfabric-dev",), "msgpack-c": ("libmsgpack-c-dev", "libmsgpack-dev"),
           "hwloc": ("libhwloc-dev",), "PMIx": ("libpmix-dev",), "meson": ("meson",),
           "valgrind": ("valgrind",)}


def copy_sources(root, tree):
    for path in house.files(root):
        target = tree.path(os.path.join(CHECKOUT, path))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(root, path), target, follow_symlinks=False)


def version(tree, packages):
    """As upstream counts: without Debian's epoch and revision."""
    for package in packages:
        said, status = tree.run(f"dpkg-query -W -f '${{Version}}' {package}")
        if not status and said:
            return re.sub(r"^\d+:|[-+~](ds|dfsg|really|deb).*|-[^-]*$", "", said)
    return "?"


def row(tree, suite):
    cells = [SYSTEMS[suite], *(version(tree, packages) for packages in COLUMNS.values()),
             datetime.date.today().isoformat()]
    return f"| {' | '.join(cells)} |"


def try_system(root, suite, folder):
    """What is wrong there, and its row."""
    tree = debian.bootstrap(folder, debian.find_mirror(suite), suite)
    tree.mount(shm="size=2g")
    copy_sources(root, tree)
    wrong = []
    for tool in ("tools/demo", "tools/test"):
        print(f"-- {SYSTEMS[suite]}: {tool}", flush=True)
        said, status = tree.run(f"cd {CHECKOUT} && {tool}", limit=3600)
        print(*(line for line in said.splitlines()
                if re.search(r"\bSKIP\b|passed,|^FAILED: |^    ", line)), sep="\n", flush=True)
        if status:
            failed = [line for line in said.splitlines() if line.startswith("FAILED: ")]
            wrong += [f"{SYSTEMS[suite]}: {line}" for line in dict.fromkeys(failed)] or \
                     [f"{SYSTEMS[suite]}: {tool}: status {status}\n{said[-4000:]}"]
    return wrong, row(tree, suite)


def write_row(root, line):
    """In place of the row of the same system."""
    text = house.read(root, PAGE)
    name = re.escape(line.split("|")[1])
    text, num = re.subn(rf"^\|{name}\|.*\|$", line.replace("\\", r"\\"), text, flags=re.M)
    if num != 1:
        house.finish([f"{PAGE}: {num} rows for{line.split('|')[1]}"], 1)
    with open(os.path.join(root, PAGE), "w", encoding="utf-8") as file:
        file.write(text)


def main():
    root, *suites = sys.argv[1:]
    root = os.path.realpath(root)
    write = "--write" in suites
    suites = [suite for suite in suites if suite != "--write"] or list(SYSTEMS)
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        house.skip(f"there is no {', '.join(missing)}; tools/install-deps --packages installs it")
    folder = debian.own_namespaces()
    wrong = []
    for suite in suites:
        complaints, line = try_system(root, suite, os.path.join(folder, suite))
        wrong += complaints
        print(line, flush=True)
        if write and not complaints:
            write_row(root, line)
    house.finish(wrong, 2 * len(suites))


main()
