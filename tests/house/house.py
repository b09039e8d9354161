# SPDX-License-Identifier: Apache-2.0
"""What the checks of the house share: the list of the checkout's files, and how a check ends."""
import os
import sys

SKIP = 77


def files(root):
    """Paths under ROOT, relative to it, sorted: what git would show, but for .gitignore's builds.

    Walks instead of asking git: the tests also run from an unpacked archive, without git."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders
                      if (not name.startswith(".") or name == ".ci")
                      and not name.startswith("build") and name != "__pycache__"
                      and not os.path.exists(os.path.join(folder, name, "meson-private"))]
        found += [os.path.relpath(os.path.join(folder, name), root)
                  for name in names if not name.endswith(".o") and name != ".git"]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def finish(complaints, checked):
    """Prints what is wrong. Also fails if there was nothing to check."""
    if not checked:
        complaints = [*complaints, "nothing found to check"]
    for complaint in complaints:
        print(complaint)
    print(f"{checked} checked, {len(complaints)} wrong")
    sys.exit(1 if complaints else 0)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)
