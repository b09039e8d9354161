#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the pages (all .md files) point to is there: files, headings, and names of the interface.

A link [text](path#heading) has a path from its page's folder, and a heading as it is made into an
anchor by those who show Markdown. `cohort_noun_verb` is in a public header. Addresses of the web
are not asked for.

usage: links.py ROOT"""
import os
import re
import sys

import house

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.M)
NAME = re.compile(r"`(cohort_[a-z]\w*[a-z0-9])\b")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")


def anchor(heading):
    """As GitHub, and mkdocs by tools/site, make it."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text):
    """Of the headings in TEXT; the second one of a name ends with -1."""
    found = []
    for heading in HEADING.findall(FENCE.sub("", text)):
        one = anchor(heading)
        num = sum(re.fullmatch(re.escape(one) + r"(-\d+)?", other) is not None for other in found)
        found.append(f"{one}-{num}" if one in found else one)
    return found


def check_link(root, page, link):
    """What is wrong with the LINK of PAGE, or None."""
    if re.match(r"\w+:", link):
        return None
    path, _, heading = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if path.startswith("..") or not os.path.exists(os.path.join(root, path)):
        return f"{page}: there is no {link}"
    if heading and heading not in anchors(house.read(root, path)):
        return f"{page}: {path} has no heading #{heading}"
    return None


def main():
    root = sys.argv[1]
    every = house.files(root)
    headers = "".join(house.read(root, path) for path in every
                      if re.match(r"include/cohort/.*\.h$", path))
    public = set(re.findall(r"\bcohort_\w+", headers))
    wrong, checked = [], 0
    for page in (path for path in every if path.endswith(".md")):
        text = house.read(root, page)
        links = LINK.findall(CODE.sub("", FENCE.sub("", text)))
        names = NAME.findall(FENCE.sub("", text))
        checked += len(links) + len(names)
        wrong += filter(None, (check_link(root, page, link) for link in links))
        wrong += [f"{page}: no public header has {name}" for name in sorted(set(names) - public)]
    house.finish(wrong, checked)


main()
