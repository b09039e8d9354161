#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the completion of a program's command line for a shell, made from its --help.

usage: completion.py bash|zsh|fish PROGRAM"""
import sys

from help import Help, choices, is_file

HEAD = ("# SPDX-License-Identifier: Apache-2.0\n"
        "# Made from %s --help by tools/packaging/completion.py.\n")


def bash(helped):
    function = "_" + helped.name.replace("-", "_")
    names = helped.names()
    lines = [HEAD % helped.name + f"{function}()", "{",
             "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}",
             "    COMPREPLY=()", "    case $prev in"]
    for name, (value, _) in names.items():
        if choices(value):
            lines.append(f"    {name}) COMPREPLY=($(compgen -W '{' '.join(choices(value))}' -- "
                         '"$cur")); return ;;')
    files = [name for name, (value, _) in names.items() if is_file(value)]
    others = [name for name, (value, _) in names.items()
              if value and not value.startswith("[") and not choices(value) and name not in files]
    if files:
        lines.append(f"    {' | '.join(files)}) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;")
    if others:
        lines.append(f"    {' | '.join(others)}) return ;;")
    lines.append("    esac")
    if helped.takes_program():
        # Behind the program everything is the program's.
        valued = [name for name, (value, _) in names.items()
                  if value and not value.startswith("[")]
        lines += ["    local at=1",
                  "    while ((at < COMP_CWORD)); do", "        case ${COMP_WORDS[at]} in",
                  f"        {' | '.join(valued)}) ((at += 2)) ;;", "        -*) ((at += 1)) ;;",
                  "        *) break ;;", "        esac", "    done",
                  "    if ((at < COMP_CWORD)); then",
                  '        COMPREPLY=($(compgen -f -- "$cur"))', "        return", "    fi"]
    words = "compgen -c" if helped.takes_program() else (
        f"compgen -W '{' '.join(helped.commands)}'" if helped.commands else "compgen -f")
    lines += ["    if [[ $cur == -* ]]; then",
              f"        COMPREPLY=($(compgen -W '{' '.join(names)}' -- \"$cur\"))", "    else",
              f'        COMPREPLY=($({words} -- "$cur"))']
    if not helped.takes_program():
        lines.append('        ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "$cur"))')
    return "\n".join([*lines, "    fi", "}",
                      f"complete -o filenames -F {function} {helped.name}"])


def quoted(text, special=""):
    for letter in "\\" + special:
        text = text.replace(letter, "\\" + letter)
    return text.replace("'", "'\\''")


def value_name(value):
    return "what" if choices(value) else value.strip("[]") if value[0] == "[" else value


def zsh(helped):
    lines = [f"#compdef {helped.name}\n" + HEAD % helped.name + "_arguments \\"]
    for name, (value, text) in helped.names().items():
        action = ""
        if value:
            colon = "::" if value.startswith("[") else ":"
            what = (f"({' '.join(choices(value))})" if choices(value)
                    else "_files" if is_file(value) else " ")
            action = f"{colon}{quoted(value_name(value), ':[]()')}:{what}"
        lines.append(f"    '*{name}[{quoted(text, ':[]')}]{action}' \\")
    if helped.takes_program():
        lines.append("    '*:::program:_normal'")
    elif helped.commands:
        both = " ".join(f"{name}\\:\"{quoted(command.short_text(), ':').replace(chr(34), '')}\""
                        for name, command in helped.commands.items())
        lines += [f"    '1:command:(({both}))' \\", "    '*:file:_files'"]
    else:
        lines.append("    '*:file:_files'")
    return "\n".join(lines)


def fish(helped):
    lines = [HEAD % helped.name]
    for name, (value, text) in helped.names().items():
        bare = name.lstrip("-")
        kind = "-l" if name.startswith("--") else "-s" if len(bare) == 1 else "-o"
        line = f"complete -c {helped.name} {kind} {bare}"
        if choices(value):
            line += f" -x -a '{' '.join(choices(value))}'"
        elif value and not value.startswith("["):
            line += " -r -F" if is_file(value) else " -x"
        lines.append(f"{line} -d '{quoted(text)}'")
    for name, command in helped.commands.items():
        lines.append(f"complete -c {helped.name} -n __fish_use_subcommand -f -a {name} "
                     f"-d '{quoted(command.short_text())}'")
    if helped.takes_program():
        lines.append(f"complete -c {helped.name} -x -a '(__fish_complete_subcommand)'")
    return "\n".join(lines)


def main():
    shell, path = sys.argv[1:]
    print({"bash": bash, "zsh": zsh, "fish": fish}[shell](Help(path)))


main()
