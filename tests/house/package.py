#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/package builds the Debian packages, lintian finds neither an error nor a warning, and the
packages' own test passes with what they contain.

usage: package.py ROOT"""
import os
import shutil
import subprocess
import sys
import tempfile

import house

PACKAGES = ("libcohort0", "libcohort-dev", "cohort-tools",
            "libcohort0-dbgsym", "cohort-tools-dbgsym")


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode == house.SKIP:
        house.skip(done.stdout.strip())
    if done.returncode:
        house.finish([f"{' '.join(command)}: status {done.returncode}\n{done.stdout}"], 1)
    return done.stdout


def main():
    root = os.path.realpath(sys.argv[1])
    if not shutil.which("dpkg-checkbuilddeps"):
        house.skip("this is no Debian")
    control = os.path.join(root, "tools/packaging/debian/control")
    missing = subprocess.run(["dpkg-checkbuilddeps", control], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    if missing.returncode:
        house.skip(missing.stdout.strip())
    with tempfile.TemporaryDirectory() as scratch:
        made = os.path.join(scratch, "packages")
        run(os.path.join(root, "tools/package"), made)
        names = {name.split("_")[0]: os.path.join(made, name) for name in os.listdir(made)}
        if sorted(names) != sorted(PACKAGES):
            house.finish([f"the packages are {sorted(names)}"], 1)
        system = os.path.join(scratch, "system")
        for name in PACKAGES:
            run("dpkg-deb", "--extract", names[name], system)
        library = next(folder for folder, _, files in os.walk(system) if "libcohort.so.0" in files)
        run("sh", os.path.join(root, "tools/packaging/debian/tests/build-and-run"), cwd=root, env={
            **os.environ, "AUTOPKGTEST_TMP": scratch, "LD_LIBRARY_PATH": library,
            "PATH": f"{system}/usr/bin:{os.environ['PATH']}",
            "PKG_CONFIG_PATH": os.path.join(library, "pkgconfig"),
            "PKG_CONFIG_SYSROOT_DIR": system,
            # So that the folders are not left out as if they were the compiler's own.
            "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"})
    house.finish([], len(PACKAGES))


main()
