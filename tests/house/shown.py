# SPDX-License-Identifier: Apache-2.0
"""What a page of docs/ shows: files, commands, and what the commands print.

A block ```c whose first line is /* NAME.c */ is that file. A block ```console is what is typed
behind "$ ", and below each command what it prints, on stdout and stderr. Each command has to
succeed.

In what is printed
    ...              within a line is any text, and as a line of its own any number of lines;
    4.2 ms, pid 77   times, numbers of processes and addresses may be any others;
    and the lines of a job may be in any order."""
import os
import re

BLOCK = re.compile(r"^```(c|console)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"/\* (\w+\.c) \*/\n")
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.M)
# What is another number in each run.
VARIES = re.compile(r"\d+(?:\\\.\d+)?(?=\\ (?:s|ms|us|ns|MB/s)\b)|(?<=pid\\ )\d+|0x[0-9a-f]+")


def pattern(line):
    """A regular expression for a line that a page shows."""
    text = VARIES.sub(lambda match: r"[0-9a-fx.]+", re.escape(line))
    return re.compile(text.replace(re.escape("..."), ".*"))


def difference(shown, printed, any_order):
    """What is wrong with the lines PRINTED, or None."""
    left = list(printed)
    for line in shown:
        if line == "...":
            continue
        wanted = pattern(line)
        at = next((i for i, text in enumerate(left) if wanted.fullmatch(text)), None)
        if at is None:
            return f"does not print: {line}"
        if any_order:
            left.pop(at)
        elif at > 0 and "..." not in shown:
            return f"prints what the page does not have: {left[0]}"
        else:
            left = left[at + 1:]
    return f"prints what the page does not have: {left[0]}" if left and "..." not in shown else None


def check_command(command, shown, run):
    printed, status = run(command)
    wrong = f"ends with status {status}" if status else None
    wrong = wrong or difference(shown.rstrip().splitlines(), printed.rstrip().splitlines(),
                                "cohortrun" in command)
    return [f"$ {command}\n{wrong}. It has printed:\n{printed}"] if wrong else []


def has_files(text):
    return any(FILE.match(block) for _, block in BLOCK.findall(text))


def check_page(text, folder, run):
    """What is wrong with the page, and how many files and commands it has. The files go into
    FOLDER; run(COMMAND) returns what it prints there, and its status."""
    wrong, num = [], 0
    for kind, block in BLOCK.findall(text):
        name = FILE.match(block) if kind == "c" else None
        if name:
            num += 1
            with open(os.path.join(folder, name[1]), "w", encoding="utf-8") as file:
                file.write(block)
        for command, shown in COMMAND.findall(block) if kind == "console" else []:
            num += 1
            wrong += check_command(command, shown, run)
    return wrong, num
