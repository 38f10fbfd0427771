#!/usr/bin/env python3
"""Prints a public header with its comments marked for Doxygen.

A comment that starts a line speaks for the declarations below it, up to the next such comment or an empty
line; one behind a declaration speaks for that.  So the headers need no marks of a tool.
"""
import re
import sys


def marked(text):
    text = text.replace("/*", "/** @file\n", 1)
    lines, block = [], []

    def close_block():
        comment = next((i for i, line in enumerate(block) if line.endswith("*/")), len(block))
        declarations = [line for line in block[comment + 1:] if re.match(r"\S.*|}", line)]
        group = len([line for line in declarations if not line.startswith(("}", "#"))]) > 1
        lines.extend(["/**@{*/"] * group + block + ["/**@}*/"] * group)
        block.clear()

    in_block = False
    for line in text.split("\n"):
        if line.startswith("/* "):
            close_block()
            in_block = True
            line = "/**" + line[2:]
        elif line == "" and in_block:
            close_block()
            in_block = False
        elif re.match(r"\s+/\* ", line):
            line = line.replace("/* ", "/** ", 1)
        else:
            line = re.sub(r"(?<=[;,{\w)]) +/\* ", " /**< ", line)
        (block if in_block else lines).append(line)
    close_block()
    return "\n".join(lines)


if __name__ == "__main__":
    with open(sys.argv[1]) as header:
        sys.stdout.write(marked(header.read()))
