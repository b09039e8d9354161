#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/FIRST_HOUR.md is correct: the files that it names exist, its diffs apply or are applied
already, what they add compiles, and rows.py accepts it.

usage: first_hour.py ROOT C-COMPILER"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import house

PAGE = "docs/FIRST_HOUR.md"
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.M | re.S)
PATH = re.compile(r"`((?:\w+/)+\w+\.\w+)`")


def said_by(*command, **options):
    """The output of COMMAND if it fails, else None."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    return done.stdout.strip() or "it failed" if done.returncode else None


def apply(diff, folder):
    """Applies a diff to FOLDER, which is not a repository but may be inside one. A reader may have
    applied it already."""
    # git would apply the diff to a repository around FOLDER.
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(folder)}
    if shutil.which("git"):
        command, check = ["git", "apply"], "--check"
    elif shutil.which("patch"):
        command, check = ["patch", "-p1", "--fuzz=0", "--force"], "--dry-run"
    else:
        house.skip("neither git nor patch")
    if not said_by(*command, check, "--reverse", cwd=folder, env=env, input=diff):
        return None
    return said_by(*command, cwd=folder, env=env, input=diff)


def check_diff(root, compiler, diff):
    """What is wrong with DIFF. Works in a copy of what it changes, and of what rows.py checks."""
    added = re.findall(r"^--- /dev/null\n\+\+\+ b/(.*)$", diff, re.M)
    changed = re.findall(r"^--- a/(.*)$", diff, re.M)
    rows = [path for path in house.files(root) if path.startswith("collectives/algo/")]
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for path in {*rows, *changed, *added}:
            if os.path.exists(os.path.join(root, path)):
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                shutil.copyfile(os.path.join(root, path), os.path.join(folder, path))
        wrong = apply(diff, folder)
        if wrong:
            return f"a diff does not apply:\n{wrong}"
        for path in added:
            wrong = said_by(*compiler.split(), "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra",
                            "-Werror", "-fsyntax-only", f"-I{folder}", f"-I{root}",
                            f"-I{root}/include", os.path.join(folder, path))
            if wrong:
                return f"{path}: does not compile:\n{wrong}"
        if rows:
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.py")
            return said_by(sys.executable, "-B", script, folder)
    return None


def main():
    root, compiler = sys.argv[1:]
    root = os.path.realpath(root)
    page = house.read(root, PAGE)
    diffs = DIFF.findall(page)
    added = {path for diff in diffs for path in re.findall(r"^\+\+\+ b/(.*)$", diff, re.M)}
    named = set(PATH.findall(page))
    wrong = [f"there is no {path}" for path in sorted(named - added)
             if not os.path.exists(os.path.join(root, path))
             and not os.path.exists(os.path.join(root, "include", path))]
    wrong += filter(None, (check_diff(root, compiler, diff) for diff in diffs))
    house.finish([f"{PAGE}: {complaint}" for complaint in wrong], len(diffs))


main()
