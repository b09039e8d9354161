#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes manual pages: of the public functions and types, from the comments of the headers; of all
of it, cohort.7; and of the programs, from what they print for --help. The date is that of the
version in CHANGELOG.md.

usage: man.py list HEADER...                          prints the names of functions and types
       man.py library VERSION CHANGELOG FOLDER HEADER... writes a page for each into FOLDER, and
                                                      cohort.7
       man.py program VERSION CHANGELOG PROGRAM       prints the page of a program"""
import os
import re
import sys
import textwrap

from help import Help

FUNCTION = re.compile(r"\b(cohort_[a-z0-9_]+)\(")
TYPE = re.compile(r"(?:typedef )?(?:struct|enum) (cohort_[a-z0-9_]+) \{|"
                  r"typedef [^{;]*?\b(cohort_[a-z0-9_]+)(?:\(.*\))?;", re.S)
CONSTANT = re.compile(r"\b(COHORT_[A-Z0-9_]+)")
REFERENCE = re.compile(r"\b(cohort_[a-z0-9_]+)\b")
PROGRAMS = ("cohort-bench", "cohort-compare", "cohort-info", "cohort-sim", "cohort-trace",
            "cohort-tune", "cohortrun")
INDENTED = re.compile(r" {2,}\S")


class Declaration:
    """What a header declares: its NAME, its CODE as one writes it, the COMMENT in front of it, as
    lines, which several may have in common, and its HEADER."""

    def __init__(self, name, code, comment, header):
        self.name = name
        self.code = code
        self.comment = comment
        self.header = header

    def mentions(self, name):
        return re.search(rf"\b{name}\b", self.code) is not None


class Function(Declaration):
    def parameters(self):
        inside = self.code[self.code.index("(") + 1:self.code.rindex(")")]
        return {match.upper() for match in re.findall(r"(\w+)(?:\[\w*\])?\s*(?:,|\)|$)", inside)}


class Type(Declaration):
    def members(self):
        """The fields of a struct, or the values of an enum: lists of names with one comment."""
        if "{" not in self.code:
            return []
        inside = self.code[self.code.index("{") + 1:self.code.rindex("}")]
        end = "," if "enum" in self.code.split("{")[0] else ";"
        found, before = [], ""  # names, comment, whether it is in front of them
        for gap, comment, name in re.findall(rf"(\s*)(?:(/\*.*?\*/)|([^{end}/]+){end}?)", inside,
                                             re.S):
            text = " ".join(" ".join(comment_lines(comment) if comment else [name]).split())
            if comment and (not found or "\n" in gap):
                before = text
            elif comment and found[-1][2] and len(found[-1][0]) > 1:
                found.append(([found[-1][0].pop()], text, False))
            elif comment:
                names, front, is_front = found.pop()
                found.append((names, (front + " " + text).strip(), is_front))
            elif text and not before and found and found[-1][2] and gap.count("\n") == 1:
                found[-1][0].append(text)
            elif text:
                found.append(([text], before, before != ""))
                before = ""
        return [(names, text) for names, text, _ in found]


class Header:
    """PROSE is what its comments say of all, in order, each as lines; CONSTANTS are pairs of code
    and comment."""

    def __init__(self, path):
        self.name = path[path.index("cohort/"):]
        self.prose, self.functions, self.types, self.constants = [], [], [], []
        with open(path, encoding="utf-8") as file:
            found = list(blocks(file.read()))
        comment = []
        for block, following in zip(found, found[1:] + [""]):
            if block.startswith("/*"):
                comment = comment_lines(block)
                if not following and not comment[0].strip().startswith("---"):
                    self.prose.append(comment)
            elif block:
                self.add(block, comment)
            else:
                comment = []

    def add(self, block, comment):
        is_function = block.startswith("COHORT_API") or "static inline" in block.split("{")[0]
        if is_function and (match := FUNCTION.search(block)):
            if match[1].startswith("cohort__"):
                return # a part of an inline function
            self.functions.append(Function(match.group(1), clean(block), comment, self.name))
        elif match := TYPE.match(block):
            self.types.append(Type(match[1] or match[2], block, comment, self.name))
        elif re.match(r"COHORT_API extern|enum \{|#define COHORT_\w+(?<!_H)\b", block):
            code = clean(block) if block.startswith("COHORT_API") else block
            if self.constants and self.constants[-1][1] is comment:
                self.constants[-1] = (self.constants[-1][0] + "\n" + code, comment)
            else:
                self.constants.append((code, comment))


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


def all_headers(paths):
    return [Header(path) for path in sorted(paths)]


def all_pages(headers):
    """The functions and types by their names."""
    found = {}
    for header in headers:
        for one in header.functions + header.types:
            found.setdefault(one.name, one)
    return found


# Text for man -----------------------------------------------------------------------------------

def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def line(text):
    return escaped(re.sub(r"\s+", " ", text).strip())


def paragraphs(lines):
    """Lists of lines. An item of a list, which begins with "- ", is one of its own, and so are
    lines that are set in, outside of items."""
    current = []
    for text in lines:
        is_item = current and current[0].startswith("- ")
        differs = current and not is_item and \
            bool(INDENTED.match(text)) != bool(INDENTED.match(current[0]))
        if (not text or text.startswith("- ") or differs) and current:
            yield current
            current = []
        if text:
            current.append(text)
    if current:
        yield current


def first_sentence(lines):
    """For one line: as much of the first paragraph as says something, and no more."""
    enough, much = 15, 100
    text = " ".join(" ".join(next(paragraphs(lines), [""])).split())
    sentence = re.split(r"(?<=[\w)])\. ", text + " ")[0].strip().rstrip(".")
    shorter = re.split(r"(?<=[\w)])[:;] ", sentence)[0]
    if len(sentence) > much and len(shorter) >= enough and shorter.count("(") == shorter.count(")"):
        sentence = shorter
    if len(sentence) < enough:
        sentence = text.strip().rstrip(".")
    is_name = len(sentence) > 1 and sentence[1].isupper()
    return sentence if is_name else sentence[:1].lower() + sentence[1:]


def described(lines, parameters=()):
    out = []
    for number, paragraph in enumerate(paragraphs(lines)):
        if INDENTED.match(paragraph[0]):
            out += [".PP", ".nf", *(escaped(text) for text in paragraph), ".fi"]
            continue
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


def code(text):
    return [".nf", *(f"\\fB{escaped(row)}\\fR" if row else "" for row in text.split("\n")), ".fi"]


def synopsis(header, declarations):
    is_own = header == "cohort/msgpack.h" or header == "cohort/uv.h"
    included = header if is_own else "cohort/cohort.h"
    return [".SH SYNOPSIS", *code("\n".join([f"#include <{included}>", "", *declarations]))]


def constants(header, text, kind=None):
    """Those of HEADER that TEXT names, and those of the type KIND."""
    out, named = [], set(CONSTANT.findall(text))
    for lines, comment in header.constants:
        if named & set(CONSTANT.findall(lines)) or kind and re.search(rf"\b{kind.name}\b", lines):
            out += [".PP" if out else ".SH CONSTANTS", *code(lines), ".PP", *described(comment)]
    return out


def contract(header, parameters=()):
    """What HEADER says of all that it has."""
    out = []
    for lines in header.prose:
        out += [".PP" if out else f".SH ALL OF {escaped(header.name.upper())}"]
        out += described(lines, parameters)
    return out


def declared(function):
    """For a terminal of 80 columns."""
    return textwrap.fill(function.code, 72, subsequent_indent="    ", break_on_hyphens=False)


def function_page(function, header, pages, version, changelog):
    together = [one for one in header.functions if one.comment is function.comment]
    kinds = [one for one in pages.values() if isinstance(one, Type) and function.mentions(one.name)]
    page = title(function.name, 3, version, changelog)
    page += [".SH NAME", f"{function.name} \\- {line(first_sentence(function.comment))}",
             *synopsis(header.name, [declared(one) for one in together]), ".SH DESCRIPTION"]
    page += described(function.comment, function.parameters())
    shared = [*function.comment, *sum(header.prose, [])]
    for kind in kinds:
        if kind.header == header.name and not kind.members() and kind.comment and \
                kind.comment is not function.comment:
            page += [f".SS {kind.name}", *described(kind.comment)]
            shared += kind.comment
    page += constants(header, "\n".join(shared)) + contract(header, function.parameters())
    names = [kind.name for kind in kinds] + [one.name for one in header.functions
                                             if one.name not in (kind.name for kind in kinds)]
    page += [".SH SEE ALSO", "\\fBcohort\\fR(7),", *see_also(names, function.name, 3)]
    return page


def type_page(kind, header, pages, version, changelog):
    users = [one.name for one in pages.values() if one is not kind and one.mentions(kind.name) and
             (one.header == kind.header or kind.code.startswith(("struct", "typedef struct"))
              and "{" in kind.code)]
    says = first_sentence(kind.comment) if kind.comment else \
        "for " + ", ".join(name for name in users if not name.endswith("_sized"))
    page = title(kind.name, 3, version, changelog)
    bare = re.sub(r"\n( *)/\*.*?\*/(?=\n)|\s*/\*.*?\*/", "", kind.code, flags=re.S)
    page += [".SH NAME", f"{kind.name} \\- {line(says)}", *synopsis(header.name, [bare])]
    if kind.comment:
        page += [".SH DESCRIPTION", *described(kind.comment)]
    members = kind.members()
    if members:
        page.append(".SH " + ("VALUES" if "enum" in kind.code.split("{")[0] else "FIELDS"))
    for names, text in members:
        page += [".TP", ", ".join(f"\\fB{line(name)}\\fR" for name in names),
                 REFERENCE.sub(r"\\fB\1\\fR", line(text)) or "\\&"]
    page += constants(header, "\n".join([*kind.comment, kind.code]), kind) + contract(header)
    return page + [".SH SEE ALSO", "\\fBcohort\\fR(7)" + ("," if users else ""),
                   *(see_also(users, kind.name, 3) if users else [])]


def overview(headers, version, changelog):
    whole = next(header for header in headers if header.name == "cohort/cohort.h")
    page = title("cohort", 7, version, changelog)
    page += [".SH NAME", f"cohort \\- {line(first_sentence(whole.prose[0]))}",
             *synopsis(whole.name, []), ".SH DESCRIPTION", *described(sum(whole.prose, []))]
    for header in headers:
        if header.functions or header.types:
            page += [f".SS {header.name}"]
        for one in (one for one in header.types + header.functions
                    if not one.name.endswith("_sized")):
            page += [".TP", f"\\fB{one.name}\\fR(3)",
                     line(first_sentence(one.comment)) if one.comment else "see there"]
    return page + [".SH SEE ALSO", *see_also(PROGRAMS, "cohort", 1)]


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
        print("\n".join(sorted(all_pages(all_headers(args)))))
    elif command == "library":
        version, changelog, folder, *paths = args
        headers = all_headers(paths)
        pages = all_pages(headers)
        made = {"cohort.7": overview(headers, version, changelog)}
        for header in headers:
            for one in header.functions + header.types:
                make = function_page if isinstance(one, Function) else type_page
                made[one.name + ".3"] = make(one, header, pages, version, changelog)
        for name, rows in made.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("\n".join(rows) + "\n")
    else:
        version, changelog, program = args
        sys.stdout.write(program_page(Help(program), version, changelog))


if __name__ == "__main__":
    main()
