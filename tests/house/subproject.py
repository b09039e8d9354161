#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A meson project outside of Cohort has Cohort as a subproject, by a wrap file: it is set up
without Cohort's tests and examples, and with --build it is built and runs, for each of
meson's default_library shared and static.

usage: subproject.py ROOT MESON C-COMPILER [--build]"""
import json
import os
import shutil
import sys
import tempfile

import house
from installed import check_linked, output, run_hello

PROJECT = """project('user', 'c')
executable('hello', 'hello.c', dependencies: dependency('cohort', version: '>=0.1'))
"""
WRAP = """[wrap-file]
directory = cohort

[provide]
dependency_names = cohort
"""


def check_targets(names):
    unwanted = [name for name in names if name.startswith("test_") or name == "transpose"]
    wrong = [f"the subproject has the target {name}" for name in unwanted]
    return wrong + [f"there is no target {name}" for name in ("hello", "cohort")
                    if name not in names]


def main():
    root, meson, compiler, *build = sys.argv[1:]
    env = {**os.environ, "CC": compiler, "PKG_CONFIG_PATH": ""}
    with tempfile.TemporaryDirectory() as user:
        os.mkdir(os.path.join(user, "subprojects"))
        os.symlink(os.path.realpath(root), os.path.join(user, "subprojects/cohort"))
        shutil.copy(os.path.join(root, "examples/hello.c"), user)
        for name, text in (("meson.build", PROJECT), ("subprojects/cohort.wrap", WRAP)):
            with open(os.path.join(user, name), "w", encoding="utf-8") as file:
                file.write(text)
        for kind in ("shared", "static") if build else ("shared",):
            folder = os.path.join(user, kind)
            output(*meson.split(), "setup", "--force-fallback-for=cohort",
                   f"-Ddefault_library={kind}", folder, user, env=env)
            targets = json.loads(output(*meson.split(), "introspect", "--targets", folder))
            wrong = check_targets([target["name"] for target in targets])
            if wrong:
                house.finish(wrong, 1)
            with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
                command = next(entry["command"] for entry in json.load(file)
                               if entry["file"].endswith("hello.c"))
            if "-fstack-clash-protection" not in command:
                house.finish([f"the subproject's user is compiled by {command}"], 1)
            if build:
                output("ninja", "-C", folder, "hello")
                check_linked(os.path.join(folder, "hello"), kind == "shared")
                run_hello(os.path.join(folder, "hello"), "")
    house.finish([], 1)


main()
