#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public function and type has a manual page that says something, with what its header says
of all; tools/packaging/functions.txt has them all, and so has the symbol table of libcohort.so, but
for inline functions; and mandoc finds nothing wrong with any page.

usage: man.py ROOT BUILD LIBRARY NM [MANDOC]"""
import os
import re
import subprocess
import sys

import house

EXPORTED = re.compile(r" T (cohort_[a-z]\w*)")


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def check_page(path, name, is_function):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    parts = dict(re.findall(r"^\.SH (\w+)\n(.*?)(?=^\.SH |\Z)", text, re.M | re.S))
    wrong = []
    if not re.match(rf"{name} \\- \S.{{10,}}", parts.get("NAME", "")):
        wrong.append(f"{path}: NAME says nothing of {name}")
    declared = f"{name}(" if is_function else name
    if declared not in parts.get("SYNOPSIS", "") or ";" not in parts["SYNOPSIS"]:
        wrong.append(f"{path}: SYNOPSIS does not declare it")
    if re.search("COHORT_API|__attribute__|static inline", parts.get("SYNOPSIS", "")):
        wrong.append(f"{path}: SYNOPSIS has what is for the compiler only")
    return wrong


def check_contract(folder):
    """What a header says of all its functions is on the page of each: a sample of it."""
    samples = {
        "cohort_barrier.3": ["Buffers belong to the operation", "no call suspends",
                             "cohort_all_gather"],
        "cohort_channel_get.3": ["any number of both may be outstanding"],
        "cohort_channel_probe.3": ["In place of a site: whichever it is"],
        "cohort_scope_async.3": ["A scope is a group of tasks that end together"],
        "cohort_comm_options.3": ["fBuint64_t memory_budget", "COHORT_FORCE_TREE"],
        "cohort_status.3": ["COHORT_ERR_REVOKED = \\-18", "a site has revoked the communicator"],
        "cohort.7": ["cohort/sync.h", "cohort_comm_options", "cohort_async"]}
    wrong = []
    for name, texts in samples.items():
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            page = re.sub(r"\s+", " ", file.read())
        wrong += [f"{name}: it does not say \"{text}\"" for text in texts if text not in page]
    return wrong


def main():
    root, build, library, nm, *mandoc = sys.argv[1:]
    include = os.path.join(root, "include/cohort")
    headers = sorted(os.path.join(include, name) for name in os.listdir(include))
    script = os.path.join(root, "tools/packaging/man.py")
    made = output(sys.executable, "-B", script, "list", *headers)
    listed = house.read(root, "tools/packaging/functions.txt").split()
    wrong = [] if made.split() == listed else [
        "tools/packaging/functions.txt is stale: "
        "python3 -B tools/packaging/man.py list include/cohort/*.h "
        f"> tools/packaging/functions.txt ({set(made.split()) ^ set(listed)})"]
    exported = EXPORTED.findall(output(nm, "-D", "--defined-only", library))
    wrong += [f"{name} is exported and has no page" for name in exported if name not in listed]
    folder = os.path.join(build, "tools", "packaging")
    pages = sorted(os.path.join(folder, name) for name in os.listdir(folder)
                   if re.fullmatch(r".*\.[137]", name))
    for name in listed:
        wrong += check_page(os.path.join(folder, name + ".3"), name, name in exported)
    wrong += check_contract(folder)
    if mandoc and not wrong:
        lint = subprocess.run([mandoc[0], "-Tlint", "-W", "warning", *pages],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wrong += lint.stdout.splitlines()
    if not mandoc and not wrong:
        house.skip("there is no mandoc; all else is well")
    house.finish(wrong, len(pages))


main()
