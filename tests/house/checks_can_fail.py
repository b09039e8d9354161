#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of this folder on small checkouts, sound ones and ones with one mistake each.

usage: checks_can_fail.py C-COMPILER NM [CLANG-FORMAT]"""
import os
import shlex
import subprocess
import sys
import tempfile

from layers_picture import Drawing

HERE = os.path.dirname(os.path.abspath(__file__))
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
PUBLIC = {"include/cohort/status.h": "", "include/cohort/cohort.h": '#include "cohort/status.h"\n',
          "include/meson.build": "files('cohort/cohort.h', 'cohort/status.h')"}
ROW = ("const struct cohort__algorithm cohort__scan_a = {\n    .collective = COHORT__SCAN,\n"
       '    .name = "a",\n};\n')
MUTANT = "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int a;\n+int b;\n"
DIFF = ("```diff\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int a;\n+int b;\n"
        "--- /dev/null\n+++ b/b.c\n@@ -0,0 +1 @@\n+int c;\n```\n")
LISTING = ("```c\n/* a.c */\n#include <stdio.h>\n#include <stdlib.h>\n"
           "int main(void) { int a = %s; printf(\"%%d\\n\", a); return 0; }\n```\n"
           "```console\n$ cc -Wall a.c -o a\n$ ./a\n%s\n```\n")
PICTURE = Drawing().draw()
FUTURE = "struct cohort_future; typedef struct cohort_future cohort_future;\ncohort_future *"
WARNED = FUTURE + "cohort_a(void) __attribute__((warn_unused_result));\n"
SETTINGS = ("| %s | 1 |\n| - | `WINDOW = %s` | `runtime/a.c` |\n"
            "| **`cohort_b_options`** |\n| `%s` |\n")
ASKS = {"runtime/a.c": 'enum { WINDOW = 8 * 4 }; char *a = read_number("COHORT_A");\n',
        "tools/cohortrun_options.c": '{"grace", required_argument, NULL, OPTION_GRACE},\n',
        "include/cohort/b.h": "typedef struct cohort_b_options {\n    int c; /* d; */\n} "
                              "cohort_b_options;"}


def asking(names, value, field):
    """A checkout that reads settings, and a page that names NAMES, WINDOW = VALUE and FIELD."""
    return {**ASKS, "docs/SETTINGS.md": SETTINGS % (names, value, field)}


# The check, the files of a checkout (the layer headers that they name exist), and a text that the
# check has to print. None: it has to pass.
CASES = [
    ("include_graph", {"runtime/net/net.c": '#include "runtime/loop/loop.h"\n'}, None),
    ("include_graph", {"runtime/net/net.c": '#include "runtime/proc/proc.h"\n'}, "may use"),
    ("include_graph", {"runtime/base/log.c": '#include "runtime/task/task.h"\n'}, "may use"),
    ("include_graph", {"collectives/plan/a.c": '#include "collectives/algo/algo.h"\n'}, "may use"),
    ("include_graph", {"collectives/plan/a.c": "#include <pthread.h>\n"}, "no threads"),
    ("include_graph", {"collectives/algo/pattern/a.c": '#include "collectives/algo/algo.h"\n'},
     "of its layer"),
    ("include_graph", {"runtime/loop/loop.c": "#include <uv.h>\n"}, None),
    ("include_graph", {"runtime/proc/proc.c": "#include <uv.h>\n"}, "belongs to runtime/loop/"),
    ("include_graph", {"runtime/net/mixed.c": "#include <rdma/fabric.h>\n"}, "net/ofi"),
    ("include_graph", {"runtime/net/ofi_cq.c": "#include <rdma/fabric.h>\n"}, None),
    ("include_graph", {"collectives/comm/a.c": "# include <msgpack.h>\n"}, "runtime/wire/"),
    ("include_graph", {"collectives/comm/a.c": "#include <hwloc.h>\n"}, "runtime/task/"),
    ("include_graph", {"runtime/net/net.c": '#include "../loop/loop.h"\n'}, "no way upwards"),
    ("include_graph", {"runtime/loop/loop.c": '#include "loop.h"\n'}, "no such file"),
    ("include_graph", {"runtime/loop/loop.c": "#include <runtime/loop/loop.h>\n"}, "in quotes"),
    ("include_graph", {"include/cohort/a.h": '#include "runtime/base/base.h"\n'}, "internal one"),
    ("include_graph", {"tools/cohortrun/main.c": '#include "runtime/launch/launcher.h"\n'}, None),
    ("include_graph", {"tools/cohortrun/main.c": '#include "runtime/proc/proc.h"\n'}, "may use"),
    ("include_graph", {"tools/sim/main.c": '#include "collectives/model/model.h"\n'}, None),
    ("include_graph", {"tools/bench/a.c": '#include "runtime/base/base.h"\n'},
     "public headers only"),
    ("include_graph", {"tools/bench/a.c": '#include "tools/share/a.h"\n',
                       "tools/share/a.h": SPDX}, None),
    ("include_graph", {"tools/bench/a.c": '#include "tools/sim/a.h"\n', "tools/sim/a.h": SPDX},
     "another program's header"),
    ("include_graph", {"tools/share/a.c": '#include "tools/sim/a.h"\n', "tools/sim/a.h": SPDX},
     "another program's header"),
    ("include_graph", {"examples/a.c": '#include "runtime/base/base.h"\n'}, "public headers only"),
    ("include_graph", {"examples/a.c": '#include "examples/a.h"\n', "examples/a.h": SPDX}, None),
    ("include_graph", {"tests/unit/examples/a.c": '#include "runtime/base/base.h"\n'},
     "public headers only"),
    ("include_graph", {"examples/a.c": "#include <cohort/status.h>\n"}, None),
    ("include_graph", {"tests/unit/runtime/wire/t.c": '#include "runtime/net/net.h"\n'}, "may use"),
    ("include_graph", {"runtime/base/a.c": '#include "tests/support/test.h"\n'}, "only tests"),
    ("circles", {"collectives/comm/a.h": '#include "collectives/comm/b.h"\n',
                 "collectives/comm/b.h": SPDX}, None),
    ("circles", {"collectives/comm/a.h": '#include "collectives/comm/b.h"\n',
                 "collectives/comm/b.h": SPDX,
                 "collectives/comm/b.c": '#include "collectives/comm/a.h"\n'}, "a circle"),
    ("circles", {"collectives/plan/a.h": '#include "collectives/plan/b.h"\n',
                 "collectives/plan/b.h": '#include "collectives/plan/c.h"\n',
                 "collectives/plan/c.h": '#include "collectives/plan/a.h"\n'}, "a circle"),
    ("circles", {"runtime/net/a.h": "int cohort__a(void);\n",
                 "runtime/net/a.c": "int cohort__a(void)\n{\n    return cohort__b();\n}\n",
                 "runtime/net/b.h": "int cohort__b(void);\n",
                 "runtime/net/b.c": '#include "runtime/net/a.h"\nint cohort__b(void)\n{\n}\n'},
     "runtime/net/a.c names cohort__b"),
    ("circles", {"runtime/net/shm.c": SPDX}, "there is no runtime/net/shm_end"),
    ("circles", {"collectives/comm/a.c": '#include "collectives/comm/a_private.h"\n',
                 "collectives/comm/a_private.h": '#include "collectives/comm/a.h"\n',
                 "collectives/comm/a.h": SPDX}, None),
    ("circles", {"collectives/comm/a_private.h": "int cohort__c(int a);\n",
                 "collectives/comm/c.c": "int cohort__c(int a)\n{\n"}, None),
    ("circles", {"collectives/comm/a.h": "int cohort__c(int a);\n",
                 "collectives/comm/c.c": "int cohort__c(int a)\n{\n"}, "of that unit"),
    ("tools_readme", {"tools/a/b.c": SPDX + "/* a: is b. */\n",
                      "tools/a/README.md": "| `b` | is b |\n"}, None),
    ("tools_readme", {"tools/a/b.c": SPDX + "/* a: is c. */\n",
                      "tools/a/README.md": "| `b` | is b |\n"}, "begin with its line"),
    ("tools_readme", {"tools/a/b.c": SPDX + "/* a: is b. */\n"}, "not in the table"),
    ("tools_readme", {"tools/a/b.c": SPDX + "/* a: is b. */\n",
                      "tools/a/README.md": "| `b` | is b |\n| `c` | is c |\n"}, "is no c"),
    ("tools_readme", {"tools/a/b.cpp": SPDX + "/* a: is b. */\n"}, "not in the table"),
    ("tools_readme", {"tools/a/b.c": SPDX + "/* a: is b. */\n", "tools/a/c/d.py": "",
                      "tools/a/README.md": "| `b` | is b |\n"}, "d.py: is not in the table"),
    ("layers_picture", {"docs/layers.svg": PICTURE}, None),
    ("layers_picture", {"docs/layers.svg": PICTURE.replace("runtime/task", "runtime/tusk")},
     "stale"),
    ("layers_picture", {}, "stale"),
    ("settings", asking("`COHORT_A`, `--grace`", "8*4", "c"), None),
    ("settings", asking("`--grace`", "8 * 4", "c"), "COHORT_A: not in"),
    ("settings", asking("`COHORT_A`", "8 * 4", "c"), "--grace: not in"),
    ("settings", asking("`COHORT_A`, `--grace`, `COHORT_Z`", "8 * 4", "c"), "nobody reads it"),
    ("settings", asking("`COHORT_A`, `--grace`", "32", "c"), "says 8 * 4"),
    ("settings", asking("`COHORT_A`, `--grace`", "8 * 4", "d"), "cohort_b_options.c: not in"),
    ("spdx", {"tools/a": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"}, None),
    ("spdx", {"tools/a": "#!/bin/sh\n"}, "no SPDX"),
    ("spdx", {"runtime/base/meson.build": "# SPDX-License-Identifier: MIT\n"}, "no SPDX"),
    ("format", {"runtime/base/a.c": SPDX + "int a;\n"}, None),
    ("format", {"runtime/base/a.c": SPDX + "int  a;\n"}, "clang-format"),
    ("mutants", {"a.c": "int a;\n", "tests/mutants/m/a.patch": MUTANT}, None),
    ("mutants", {"a.c": "int c;\n", "tests/mutants/m/a.patch": MUTANT}, "does not apply"),
    ("lines", {"a.py": SPDX + "#" * 100 + "\n"}, None),
    ("lines", {"runtime/meson.build": "\n" + "#" * 101 + "\n"}, "runtime/meson.build:2: 101"),
    ("internal_names", {"runtime/base/a.h": "int cohort__a(void);\n",
                        "runtime/base/a.c": "cohort__a", "runtime/base/b.c": "cohort__a"}, None),
    ("internal_names", {"runtime/base/a.h": "int cohort__a(void);\n",
                        "runtime/base/a.c": "cohort__a"}, "only runtime/base/a.c"),
    ("rows", {"collectives/algo/rows.h": "ROW(scan, a)\n", "collectives/algo/scan/a.c": ROW}, None),
    ("rows", {"collectives/algo/rows.h": "", "collectives/algo/scan/a.c": ROW}, "not in"),
    ("rows", {"collectives/algo/rows.h": "ROW(scan, a)\n"}, "no such row"),
    ("rows", {"collectives/algo/rows.h": "ROW(scan, a)\n",
              "collectives/algo/scan/b.c": ROW.replace('"a"', '"b"')}, "has no line"),
    ("rows", {"collectives/algo/rows.h": 2 * "ROW(scan, a)\n", "collectives/algo/scan/a.c": ROW},
     "twice"),
    ("first_hour", {"docs/FIRST_HOUR.md": DIFF, "a.c": "int a;\n"}, None),
    ("first_hour", {"docs/FIRST_HOUR.md": DIFF, "a.c": "int b;\n", "b.c": "int c;\n"}, None),
    ("first_hour", {"docs/FIRST_HOUR.md": DIFF, "a.c": "int b;\n"}, "does not apply"),
    ("first_hour", {"docs/FIRST_HOUR.md": DIFF.replace("c;", "c"), "a.c": "int a;\n"},
     "does not compile"),
    ("first_hour", {"docs/FIRST_HOUR.md": DIFF + "`b/a.c`", "a.c": "int a;\n"}, "no b/a.c"),
    ("sources", {"a.c": "", "compile_commands.json": '[{"directory": "/", "file": "a.c"}]'},
     "a.c: in no meson.build"),
    ("sources", {"b/a.c": "", "b.c": "", "compile_commands.json": "[]"}, "b.c: in no meson.build"),
    ("sources", {"b/a.c": "", "compile_commands.json": "[]"}, None),
    ("public_headers", PUBLIC, None),
    ("public_headers", {**PUBLIC, "include/cohort/status.h": "size_t a;\n"}, "status.h alone"),
    ("public_headers", {**PUBLIC, "include/cohort/status.h": "enum { a };\n"}, "status.h alone"),
    ("public_headers", {**PUBLIC, "include/cohort/cohort.h": ""}, "not in cohort/cohort.h"),
    ("public_headers", {**PUBLIC, "include/meson.build": "files('cohort/cohort.h')"}, "installed"),
    ("dropped_futures", {"include/cohort/a.h": WARNED}, None),
    ("dropped_futures", {"include/cohort/a.h": WARNED + FUTURE + "cohort_b(int a);\n"}, "cohort_b"),
    ("dropped_futures", {"include/cohort/a.h": WARNED +
                         "cohort_status cohort_b(cohort_future **ret_a);\n"}, "cohort_b"),
    ("dropped_futures", {"include/cohort/a.h": ""}, "no function"),
    ("links", {"a.md": "[a](b/c.md#d-e)", "b/c.md": "# D, e\n[a](../a.md)"}, None),
    ("links", {"a.md": "[a](b.md)"}, "there is no b.md"),
    ("links", {"a.md": "[a](#b)\n```\n# b\n```\n"}, "no heading #b"),
    ("links", {"a.md": "`cohort_ab(1)`", "include/cohort/a.h": "int cohort_ab(int);"}, None),
    ("links", {"a.md": "`cohort_ab`", "include/cohort/a.h": "int cohort_abc(int);"},
     "has cohort_ab"),
    ("listings", {"docs/a.md": LISTING % ("1", "1")}, None),
    ("listings", {"docs/a.md": LISTING % ("1", "... 4.5 ms")}, "does not print: ..."),
    ("listings", {"docs/a.md": LISTING % ("1", "")}, "page does not have: 1"),
    ("listings", {"docs/a.md": LISTING % ("1; int b", "1")}, "unused variable"),
    ("listings", {"docs/a.md": LISTING % ("1; exit(3)", "1")}, "ends with status 3"),
]
HEADERS = ["runtime/%s/%s.h" % (name, name)
           for name in ("base", "task", "loop", "wire", "net", "proc")]
HEADERS += ["collectives/%s/%s.h" % (name, name) for name in ("plan", "algo", "model")]
HEADERS += ["runtime/launch/launcher.h", "tests/support/test.h", "include/cohort/status.h"]

# The same for symbols.py: kind, header, source.
SYMBOLS = [
    ("static", "", "int cohort__a; int cohort_b; static int c; int *cohort_d = &c;", None),
    ("static", "", "int cohort_a; int helper;", "helper: a global symbol"),
    ("shared", "COHORT_API int cohort_a(void);", "int cohort_a(void) { return 1; }", None),
    ("shared", "COHORT_API int cohort_a(void);", "int cohort_b;", "but not exported"),
    ("shared", "", "int cohort_a;", "in no public header"),
    ("shared", "", "int cohort__a;", "exported without"),
]


def run(check, want, *args, env=None):
    """Runs CHECK. Returns whether it ended, and printed, as WANT says (a check that is skipped does
    neither)."""
    done = subprocess.run([sys.executable, "-B", os.path.join(HERE, check + ".py"), *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    if done.returncode == 77:
        return True
    if want is None:
        good = done.returncode == 0
    else:
        good = done.returncode == 1 and want in done.stdout
    if not good:
        print(f"{check} {args}: status {done.returncode}, wanted: {want}\n{done.stdout}")
    return good


def fill(root, files):
    for path, text in files.items():
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def symbols(root, compiler, nm, kind, header, source):
    fill(root, {"include/cohort/a.h": header, "a.c": source})
    library = os.path.join(root, "a.o")
    how = ["-c"] if kind == "static" else ["-shared", "-fPIC", "-nostdlib"]
    subprocess.run([*compiler.split(), *how, "-o", library, os.path.join(root, "a.c")], check=True)
    return kind, library, nm, root


def behind_a_cache(root, compiler):
    """Whether listings.py takes a compiler of two words, the first of which looks for the second,
    as ccache does."""
    programs, path = os.path.join(root, "bin"), os.environ["PATH"]
    fill(root, {"docs/a.md": LISTING % ("1", "1"), "bin/cache": '#!/bin/sh\nexec "$@"\n',
                "bin/cc": f'#!/bin/sh\nPATH={shlex.quote(path)} exec {compiler} "$@"\n'})
    for name in ("cache", "cc"):
        os.chmod(os.path.join(programs, name), 0o755)
    return run("listings", None, root, ".", "cache cc",
               env={**os.environ, "PATH": f"{programs}:{path}"})


def main():
    compiler, nm, *clang_format = sys.argv[1:]
    extra = {"format": clang_format, "public_headers": [compiler],
             "dropped_futures": [compiler], "first_hour": [compiler],
             "listings": [".", compiler]}
    good = True
    for check, files, want in CASES:
        with tempfile.TemporaryDirectory() as root:
            if check == "include_graph":
                fill(root, {header: "" for header in HEADERS})
            if check == "format":
                with open(os.path.join(HERE, "../../.clang-format"), encoding="utf-8") as style:
                    fill(root, {".clang-format": style.read()})
            fill(root, files)
            extra["sources"] = [root, os.path.join(root, "b")]
            good &= run(check, want, root, *extra.get(check, []))
    for kind, header, source, want in SYMBOLS:
        with tempfile.TemporaryDirectory() as root:
            good &= run("symbols", want, *symbols(root, compiler, nm, kind, header, source))
    with tempfile.TemporaryDirectory() as root:
        good &= behind_a_cache(root, compiler)
    print(f"{len(CASES) + len(SYMBOLS) + 1} cases")
    sys.exit(0 if good else 1)


main()
