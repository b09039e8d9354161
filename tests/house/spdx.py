#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file says its licence in its first line, or in its second below a `#!`.

usage: spdx.py ROOT"""
import re
import sys

import house

LINE = re.compile(r"(# |/\* |; |<!-- |)SPDX-License-Identifier: Apache-2\.0( \*/| -->|)")
# Pages, data, and the licence itself.
EXEMPT = re.compile(r".*\.(md|txt|pgm|ppm|png|svg|json|csv|xml)|LICENSE|tests/fuzz/.*/corpus/.*|"
                    r"tools/packaging/debian/(copyright|source/format|"
                    r".*\.(install|examples|symbols))")


def check(root, path):
    try:
        lines = house.read(root, path).splitlines()[:2]
    except UnicodeDecodeError:
        return f"{path}: is no text (data needs an exemption here)"
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    if lines and LINE.fullmatch(lines[0]):
        return None
    return f"{path}: no SPDX-License-Identifier: Apache-2.0 in its first line"


def main():
    root = sys.argv[1]
    paths = [path for path in house.files(root) if not EXEMPT.fullmatch(path)]
    house.finish([wrong for wrong in (check(root, path) for path in paths) if wrong], len(paths))


main()
