# SPDX-License-Identifier: Apache-2.0
"""Reads what a program prints for --help: the list from which its completions and manual page are
made. Lines that begin with two blanks are options, "  --bind core|numa|none  text", or commands,
"  report  text"; lines that are further in go on with the text."""
import re
import subprocess

OPTION = re.compile(r"(--?[a-z][a-z-]*)(?: (\[?[A-Z][^\s]*?|[a-z]+(?:\|[a-z]+)+)(?=,? |,?$))?")
COMMAND = re.compile(r"  ([a-z][a-z_]*)  +(\S.*)")
ALWAYS = {"--help": "print a help text", "--version": "print the version"}
FILES = re.compile(r"\[?(FILE|PATH|OUT)\b.*")


class Option:
    """NAMES are what may be written, each with its VALUE's name or None."""

    def __init__(self, names, text):
        self.names = names
        self.text = text

    def short_text(self):
        """The beginning of the text, for one line."""
        return re.split(r"[;:(]|\. ", self.text)[0].strip().rstrip(".,")


def choices(value):
    """The words that the value named so may be, or an empty list."""
    return value.split("|") if value and "|" in value else []


def is_file(value):
    return bool(value and FILES.fullmatch(value))


def read_names(line):
    """The names at the beginning of an option's line, and what follows them."""
    names, at = [], 0
    while match := OPTION.match(line, at):
        names.append((match.group(1), match.group(2)))
        at = match.end()
        gap = re.compile(r", | (?=-)").match(line, at)
        if not gap:
            break
        at = gap.end()
    return names, line[at:].strip(" ,")


class Help:
    """The help of the program at PATH: its NAME, the usage LINES, what is in front of the options
    (INTRO) and behind them (MORE), both as lists of paragraphs, and OPTIONS and COMMANDS."""

    def __init__(self, path):
        self.path = path
        text = subprocess.run([path, "--help"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        lines = text.splitlines()
        num = 1
        while lines[num].startswith("       "):
            num += 1
        self.usage = [line.removeprefix("usage: ").strip() for line in lines[:num]]
        self.name = next(word for word in self.usage[0].split() if word.startswith("cohort")
                         and word == path.rsplit("/", 1)[-1])
        self.options, self.commands, self.intro, self.more = [], {}, [], []
        self.read(lines[num:])
        for line in self.usage: # a command that needs no more words
            word = re.match(rf"{self.name} ([a-z]+) [A-Z]", line)
            if word:
                self.commands.setdefault(word.group(1), Option([], ""))

    def read(self, lines):
        text, begins_anew = None, True
        for line in lines:
            if re.match("  -", line):
                names, rest = read_names(line[2:])
                self.options.append(text := Option(names, rest))
            elif command := COMMAND.fullmatch(line):
                self.commands[command.group(1)] = text = Option([], command.group(2))
            elif line.startswith("   ") and text:
                text.text = f"{text.text} {line.strip()}".strip()
            elif line:
                paragraphs = self.more if self.options or self.commands else self.intro
                if begins_anew or not paragraphs:
                    paragraphs.append([])
                paragraphs[-1].append(line.strip())
            begins_anew = not line
        self.options = [option for option in self.options
                        if not {name for name, _ in option.names} <= set(ALWAYS)]
        self.options += [Option([(name, None)], text) for name, text in ALWAYS.items()]

    def names(self):
        """Each name of an option, once, with the name of its value and its text."""
        found = {}
        for option in self.options:
            for name, value in option.names:
                if name not in found or (found[name][0] is None and value):
                    found[name] = (value, option.short_text())
        return found

    def takes_program(self):
        return "program" in self.usage[0]
