#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes manual pages: of the public functions, from the comments of the headers, and of the
programs, from what they print for --help. The date is that of the version in CHANGELOG.md.

usage: man.py list HEADER...                               prints the names of the functions
       man.py functions VERSION CHANGELOG FOLDER HEADER... writes a page for each into FOLDER
       man.py program VERSION CHANGELOG PROGRAM            prints the page of a program"""
import os
import re
import sys

from help import Help

FUNCTION = re.compile(r"\b(cohort_[a-z0-9_]+)\(")
REFERENCE = re.compile(r"\b(cohort_[a-z0-9_]+)\b")
PROGRAMS = ("cohort-bench", "cohort-info", "cohort-sim", "cohort-trace", "cohort-tune", "cohortrun")


class Function:
    """A public function: its NAME, its DECLARATION as one writes it, the COMMENT in front of it, as
    lines, and its HEADER."""

    def __init__(self, name, declaration, comment, header):
        self.name = name
        self.declaration = declaration
        self.comment = comment
        self.header = header

    def parameters(self):
        inside = self.declaration[self.declaration.index("(") + 1:self.declaration.rindex(")")]
        return {match.upper() for match in re.findall(r"(\w+)(?:\[\w*\])?\s*(?:,|\)|$)", inside)}


def clean(declaration):
    text = declaration.split("\n{", 1)[0] if "\n{" in declaration else declaration
    text = re.sub(r"__attribute__\(\(.*\)\)|COHORT_API|COHORT_MUST_USE|static inline", " ", text,
                  flags=re.S)
    text = re.sub(r"\s+", " ", text).strip().rstrip(";").strip()
    return text + ";"


def comment_lines(text):
    body = text.strip()[2:-2]
    return [re.sub(r"^\s*\* ?", "", line).rstrip() for line in body.split("\n")]


def blocks(text):
    """The comments and declarations that begin in the first column, in order."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        first, end = lines[at], at
        if first.startswith("/*"):
            while "*/" not in lines[end]:
                end += 1
        elif first.startswith("#"):
            while lines[end].endswith("\\"):
                end += 1
        elif first and first[0] not in " }" and not first.startswith('extern "C"'):
            while not (lines[end].endswith(";") and (end == at or "{" not in "\n".join(
                    lines[at:end])) or lines[end].startswith("}") or
                       lines[end].endswith("}") and end > at and lines[end][0] not in " "):
                end += 1
        yield "\n".join(lines[at:end + 1])
        at = end + 1


def functions(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    comment = []
    for block in blocks(text):
        if block.startswith("/*"):
            comment = comment_lines(block)
        elif (block.startswith("COHORT_API") or "static inline" in block.split("{")[0]) and (
                match := FUNCTION.search(block)):
            yield Function(match.group(1), clean(block), comment,
                           path[path.index("cohort/"):])


def all_functions(headers):
    found = {}
    for path in sorted(headers):
        for function in functions(path):
            found.setdefault(function.name, function)
    return found


# Text for man -----------------------------------------------------------------------------------

def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def line(text):
    return escaped(re.sub(r"\s+", " ", text).strip())


def paragraphs(lines):
    """Lists of lines; an item of a list, which begins with "- ", is one of its own."""
    current = []
    for text in lines:
        if (not text or text.startswith("- ")) and current:
            yield current
            current = []
        if text:
            current.append(text)
    if current:
        yield current


def first_sentence(lines):
    """For one line: as much of the first paragraph as says something, and no more."""
    enough, much = 15, 100
    text = " ".join(next(paragraphs(lines), [""]))
    for ends in (r"[:;] ", r"\. "):
        parts = re.split(rf"(?<=[\w)])(?:{ends})", text + " ")
        sentence = parts[0].strip().rstrip(".")
        if enough <= len(sentence) and (ends != r"[:;] " or len(text.split(". ")[0]) > much):
            break
    if len(sentence) < enough:
        sentence = text.strip().rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def described(lines, parameters=()):
    out = []
    for number, paragraph in enumerate(paragraphs(lines)):
        text = line(" ".join(paragraph))
        for name in parameters:
            text = re.sub(rf"\b{name}\b", lambda match: f"\\fI{match.group(0).lower()}\\fR", text)
        text = REFERENCE.sub(r"\\fB\1\\fR", text)
        if paragraph[0].startswith("- "):
            out.append(".IP \\(bu 2")
            text = text.removeprefix("\\-").strip()
        elif number > 0:
            out.append(".PP")
        out.append(text)
    return out


def title(name, section, version, changelog):
    with open(changelog, encoding="utf-8") as file:
        date = re.search(r"^## .*\((\d{4}-\d\d-\d\d)\)", file.read(), re.M)
    if not date:
        sys.exit(f"{changelog}: no version with a date: '## {version} (2026-01-31)'")
    return ['.\\" SPDX-License-Identifier: Apache-2.0', '.\\" Made by tools/packaging/man.py.',
            f'.TH {escaped(name)} {section} {date.group(1)} "Cohort {version}" "Cohort"', ".nh"]


def see_also(names, own, section):
    others = [f"\\fB{escaped(name)}\\fR({section})" for name in names if name != own]
    return ",\n".join(others).split("\n")


def function_page(function, siblings, version, changelog):
    page = title(function.name, 3, version, changelog)
    page += [".SH NAME", f"{function.name} \\- {line(first_sentence(function.comment))}",
             ".SH SYNOPSIS", ".nf", "\\fB#include <cohort/cohort.h>\\fR", "",
             f"\\fB{escaped(function.declaration)}\\fR", ".fi", ".SH DESCRIPTION"]
    page += described(function.comment, function.parameters())
    page += [".PP", f"It is declared in \\fI{escaped(function.header)}\\fR. Link with "
             "\\fI\\-lcohort\\fR."]
    if len(siblings) > 1:
        page += [".SH SEE ALSO", *see_also(siblings, function.name, 3)]
    return "\n".join(page) + "\n"


def program_page(helped, version, changelog):
    page = title(helped.name, 1, version, changelog)
    intro = [text for paragraph in helped.intro for text in [*paragraph, ""]]
    page += [".SH NAME", f"{escaped(helped.name)} \\- {line(first_sentence(intro))}",
             ".SH SYNOPSIS", ".nf", *map(line, helped.usage), ".fi", ".SH DESCRIPTION",
             *described(intro)]
    if helped.commands:
        page.append(".SH COMMANDS")
        for name, command in helped.commands.items():
            page += [".TP", f"\\fB{escaped(name)}\\fR", line(command.text) or "see above"]
    page.append(".SH OPTIONS")
    for option in helped.options:
        names = [f"\\fB{escaped(name)}\\fR" + (f" \\fI{escaped(value)}\\fR" if value else "")
                 for name, value in option.names]
        page += [".TP", ", ".join(names), line(option.text) or "see above"]
    if helped.more:
        page.append(".SH NOTES")
        page += described([text for paragraph in helped.more for text in [*paragraph, ""]])
    page += [".SH SEE ALSO", *see_also(PROGRAMS, helped.name, 1)]
    return "\n".join(page) + "\n"


def main():
    command, *args = sys.argv[1:]
    if command == "list":
        print("\n".join(sorted(all_functions(args))))
    elif command == "functions":
        version, changelog, folder, *headers = args
        found = all_functions(headers)
        for function in found.values():
            siblings = [other.name for other in found.values() if other.header == function.header]
            with open(os.path.join(folder, function.name + ".3"), "w", encoding="utf-8") as file:
                file.write(function_page(function, siblings, version, changelog))
    else:
        version, changelog, program = args
        sys.stdout.write(program_page(Help(program), version, changelog))


if __name__ == "__main__":
    main()
