#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one program of modules of Python: a zip file behind a first line for the shell, as zipapp
does, but without the time, so that the same modules make the same program.

usage: bundle.py PROGRAM MODULE..."""
import os
import sys
import zipfile


def main():
    program, *modules = sys.argv[1:]
    with open(program, "wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as bundle:
            for path in sorted(modules):
                with open(path, encoding="utf-8") as module:
                    bundle.writestr(zipfile.ZipInfo(os.path.basename(path)), module.read())
    os.chmod(program, 0o755)


main()
