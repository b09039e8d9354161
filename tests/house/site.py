#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/site makes the site without a broken link, and it has each page, function and program.

usage: site.py ROOT BUILD [MKDOCS]"""
import os
import re
import subprocess
import sys
import tempfile

import house


def main():
    root, build, *mkdocs = sys.argv[1:]
    if not mkdocs:
        house.skip("there is no mkdocs")
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([sys.executable, "-B", os.path.join(root, "tools/site"), folder,
                               build], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode:
            house.finish([made.stdout], 1)
        pages = [os.path.join(where, name) for where, _, names in os.walk(folder)
                 for name in names if name.endswith(".html")]
        index = house.read(folder, "index.html")
        ids = {one for page in pages for one in re.findall(r'id="([^"]+)"',
                                                          house.read(folder, page))}
    wanted = house.read(root, "tools/packaging/functions.txt").split()
    wanted += ["cohortrun", "cohort-bench", "cohort-compare"]
    wrong = [f"the site has no {name}" for name in wanted if name not in ids]
    documents = [path for path in house.files(root) if re.match(r"docs/.*\.md$", path)]
    wrong += [f"the site's menu has no {path}: it needs a row in README.md" for path in documents
              if f'href="{path[:-3]}.html" class="dropdown-item"' not in index]
    house.finish(wrong, len(wanted) + len(documents))


main()
