#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each option that a program knows is in its --help, and the completions, which are made from that,
offer all of them, in each shell that is there. Those for bash are tried for more.

usage: completion.py ROOT BUILD PROGRAM..."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import house

KNOWN = re.compile(r'\{"([a-z-]+)", (?:no|required|optional)_argument|add_argument\("--([a-z-]+)"')
FOLDERS = {"compare": "bench/compare"} # of programs that have none of that name
NAMED = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
TRY = """source "$1"; COMP_WORDS=("${@:3}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"$2"; printf '%s\\n' "${COMPREPLY[@]}" """
FISH = "source $argv[1]; complete -C $argv[2]"


def output(*command):
    with tempfile.TemporaryDirectory() as home: # fish writes into it
        folders = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home,
                   "XDG_CACHE_HOME": home}
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=True, env={**os.environ, **folders}).stdout


def bash(file, *words):
    function = "_" + words[0].replace("-", "_")
    return output("bash", "--norc", "-c", TRY, "bash", file, function, *words).split()


def check(root, build, program):
    name = os.path.basename(program)
    said = output(program, "--help")
    name_of_folder = name.removeprefix("cohort-")
    folder = os.path.join(root, "tools", FOLDERS.get(name_of_folder, name_of_folder))
    wanted = {"--help", "--version"}
    for path in os.listdir(folder):
        if path.endswith((".c", ".py")):
            wanted |= {"--" + "".join(names) for names in KNOWN.findall(house.read(folder, path))}
    wrong = [f"{name} --help does not say {option}" for option in wanted - {"--help", "--version"}
             if option not in NAMED.findall(said)]
    file = os.path.join(build, "tools", "packaging", name)
    offered = {word for word in bash(file, name, "--") if word.startswith("--")}
    wrong += [f"bash: {name} --: {word}" for word in sorted(offered ^ wanted)
              if word not in offered or word not in NAMED.findall(said)]
    if shutil.which("zsh"):
        file_of_zsh = os.path.join(build, "tools", "packaging", "_" + name)
        wrong += output("zsh", "-f", "-n", file_of_zsh).splitlines()
    if shutil.which("fish"):
        lines = output("fish", "--no-config", "-c", FISH, file + ".fish", name + " --")
        offered = {line.split("\t")[0] for line in lines.splitlines()}
        wrong += [f"fish: {name} --: {word}" for word in sorted(wanted - offered)]
    return wrong


def main():
    root, build, *programs = sys.argv[1:]
    wrong = [one for program in programs for one in check(root, build, program)]
    cohortrun = os.path.join(build, "tools", "packaging", "cohortrun")
    trace = os.path.join(build, "tools", "packaging", "cohort-trace")
    for words, want in ((("cohortrun", "--bind", ""), {"core", "numa", "none"}),
                        (("cohortrun", "--bind", "n"), {"numa", "none"}),
                        (("cohortrun", "-n", "2", "--t"), {"--tag", "--timeout"}),
                        (("cohortrun", "-n", ""), set()),
                        (("cohortrun", "-n", "2", "a", "--t"), set()),
                        (("cohort-trace", ""), {"report", "plot", "join"})):
        got = set(bash(trace if words[0] == "cohort-trace" else cohortrun, *words))
        if got != want:
            wrong.append(f"{' '.join(words)}: offers {got}, not {want}")
    house.finish(wrong, len(programs))


main()
