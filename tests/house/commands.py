# SPDX-License-Identifier: Apache-2.0
"""The commands that README.md and docs/BUILDING.md show: blocks that are indented by four spaces.
Each is to be run, or listed here with the reason why not. One that is listed and not there any more
is a mistake, so the list can't drift from the pages."""
import re

import house

PAGES = ("README.md", "docs/BUILDING.md")
BLOCK = re.compile(r"(?:^    .*\n)+", re.M)
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)

# The beginning of a line, and why it is not run.
NOT_RUN = {
    "python3 tools/bench/readme_figures.py": "measures for half an hour, on a machine for itself",
    "find_package(Cohort": "is CMake's: house/install_cmake",
    "target_link_libraries(program": "is CMake's: house/install_cmake",
    "[wrap-file]": "is meson's: house/subproject", "directory = cohort": "as above",
    "[provide]": "as above", "dependency_names = cohort": "as above",
    "cp -r /usr/share/doc/libcohort-dev": "where the packages are: empty_debian.py",
    "apt install ./build-packages": "as above",
    "meson test -C build-check   ": "tools/test has run these",
    "meson test -C build-check --setup": "needs a build with a sanitizer: tools/test --all",
    "meson test -C build-check --suite long": "takes hours, and this test is one of them",
}
# Blocks that are for somebody who is not root, by the beginning of their first line.
AS_USER = ("meson setup --buildtype=release --prefix=\"$HOME/.local\"",)
# What such a block takes for granted.
BEFORE = {"cc program.c": "cp examples/hello.c /tmp/program.c && cd /tmp"}
# Others have to do without what these install.
LAST = ("tools/install-deps --peers",)


class Block:
    """LINES, to be run by one shell in the checkout, as root or as a USER."""

    def __init__(self, page, lines):
        self.page = page
        self.lines = lines
        self.is_users = lines[0].startswith(AS_USER)

    def script(self):
        before = [command for first, command in BEFORE.items() if self.lines[0].startswith(first)]
        return "set -e\n" + "\n".join([*before, *self.lines])


def blocks(root):
    """What is to be run of the pages, in their order but for LAST."""
    found, unused = [], set(NOT_RUN)
    for page in PAGES:
        for block in BLOCK.findall(FENCED.sub("", house.read(root, page))):
            lines = []
            for line in block.replace("\\\n", "\0").splitlines():
                line = line[4:].replace("\0", "\\\n")
                reasons = [first for first in NOT_RUN if (line + "   ").startswith(first)]
                unused.difference_update(reasons)
                if line.strip() and not reasons:
                    lines.append(line)
            if lines:
                found.append(Block(page, lines))
    if unused:
        house.finish([f"{', '.join(PAGES)}: no command begins with: {first}"
                      for first in sorted(unused)], 1)
    return sorted(found, key=lambda block: block.lines[0].startswith(LAST))
