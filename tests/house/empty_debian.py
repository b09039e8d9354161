#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages on an empty Debian, as somebody who is new has them: installed as
docs/BUILDING.md says, the tutorial as a plain user, with its last step on two hosts by ssh, a
project of one's own by pkg-config, CMake and meson, manual pages and completions, a small and no
/dev/shm, the packages' own tests by autopkgtest, and a purge that leaves nothing.

Skipped without root, debootstrap or a mirror of Debian (the one of apt here is used). Takes some
minutes and 2 GB below the folder for temporary files, which are removed.

usage: empty_debian.py ROOT [FOLDER]      FOLDER: packages that tools/package has made"""
import os
import re
import shutil
import subprocess
import sys

import debian
import house
import shown

TOOLS = ("apt-get", "autopkgtest", "debootstrap", "ip", "nsenter", "unshare")
PACKAGES = "libcohort0 libcohort0-dbgsym libcohort-dev cohort-tools cohort-tools-dbgsym"
# Where the name of a package may remain.
KEPT = re.compile(r"/(home|root|tree|var/(log|cache|lib/(apt|dpkg))|proc|sys|dev)/.*")


def step(text):
    print("--", text, flush=True)


def make_packages(root, folder):
    """tools/package, unless FOLDER has them already."""
    said, status = debian.run(os.path.join(root, "tools/package"), folder, limit=3000)
    if status == house.SKIP:
        house.skip(said.strip())
    if status:
        house.finish([f"tools/package: status {status}\n{said}"], 1)


def as_documented(root, page, begin):
    """The line of PAGE that begins so."""
    found = re.findall(rf"^    ({re.escape(begin)}.*?)(?: +# .*)?$", house.read(root, page), re.M)
    if len(found) != 1:
        house.finish([f"{page}: {len(found)} lines begin with: {begin}"], 1)
    return found[0]


def expect(said, wanted, command):
    if wanted not in said:
        house.finish([f"{command}: does not say '{wanted}', but:\n{said}"], 1)


def install(tree, root, packages):
    shutil.copytree(packages, tree.path("root/build-packages"))
    command = as_documented(root, "docs/BUILDING.md", "apt install ./")
    tree.need(f"DEBIAN_FRONTEND=noninteractive {command.replace('install', 'install -y', 1)}",
              limit=1200)


def tutorial(tree, root):
    """The tutorial's files and commands on host a. Its last step needs host b, with the program at
    the same place, and ssh without a password or a question."""
    folder = f"home/{debian.USER}/tutorial"
    tree.need("mkdir tutorial", debian.USER)
    tree.need("ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519 </dev/null", debian.USER)

    def run(command):
        return tree.run(f"cd tutorial && {command}", debian.USER, limit=120)

    return shown.check_page(house.read(root, "docs/TUTORIAL.md"), tree.path(folder), run)


def main():
    root, *packages = sys.argv[1:]
    root = os.path.realpath(root)
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        house.skip(f"there is no {', '.join(missing)} (tools/install-deps --packages)")
    folder = debian.own_namespaces()
    step("an empty Debian")
    empty = debian.bootstrap(os.path.join(folder, "empty"))
