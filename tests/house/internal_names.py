#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A function that an internal header declares is called from another file than its own. A function
that only its own file calls is static.

usage: internal_names.py ROOT"""
import re
import sys

import house

# A declaration at the beginning of a line; an inline function begins with 'static'.
DECLARED = re.compile(r"^(?!static|typedef)\w[\w \*]*?\b(cohort__\w+)\(", re.M)
NAME = re.compile(r"\bcohort__\w+")


def main():
    root = sys.argv[1]
    paths = [path for path in house.files(root) if path.endswith((".c", ".h"))]
    texts = {path: house.read(root, path) for path in paths}
    names = {path: set(NAME.findall(text)) for path, text in texts.items()}
    wrong, checked = [], 0
    for header in paths:
        if not header.endswith(".h") or not header.startswith(("runtime/", "collectives/")):
            continue
        for name in DECLARED.findall(texts[header]):
            checked += 1
            is_used_here = len(re.findall(rf"\b{name}\b\(", texts[header])) > 1  # by an inline one
            users = [path for path in paths if path != header and name in names[path]]
            if not is_used_here and len(users) < 2:
                wrong.append(f"{header}: {name}: only {' '.join(users) or 'nobody'} uses it")
    house.finish(wrong, checked)


main()
