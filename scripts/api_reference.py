#!/usr/bin/env python3
"""Writes the reference of the C interface, Markdown pages, from the comments of the public headers.

    scripts/api_reference.py HEADER_FOLDER [PAGE_FOLDER]

One page a header and index.md, which lists them and every name.  Without PAGE_FOLDER nothing is
written, only checked.  A public declaration without a comment is an error: status 1, each with its
file and line.

A header is read by lines, as clang-format leaves them.  A comment that starts a line belongs to the
declarations below it up to the next such comment or empty line; a declaration may have its comment at
the end of its lines instead, a struct or enum inside.  Comments of the form --- title --- are
headings.
"""
import pathlib
import re
import sys

NAME = re.compile(r"\bPOL_[A-Z0-9_]+\b|\bpol_\w+\b")
HEADING = re.compile(r"-{3,} *(.*?) *-*$", re.S)
GUARD = re.compile(r"#(ifndef POLHODE\w*_H|define POLHODE\w*_H|endif|include .*)$")
CPLUSPLUS = ["#ifdef __cplusplus", 'extern "C" {', "#endif"], ["#ifdef __cplusplus", "}", "#endif"]


class Item:
    """A comment and the declarations it speaks for: lists of lines."""

    def __init__(self, line, comment=""):
        self.line, self.comment, self.declarations = line, comment, []

    def names(self):
        """What the declarations declare, functions and types before constants."""
        found = []
        for declaration in self.declarations:
            found += declared_names(declaration)
        return found


def comment_text(lines):
    """The text of a comment without its stars; indents stay, so that examples stay examples."""
    text = re.sub(r"\s*\*/\s*$", "", "\n".join(lines))
    text = re.sub(r"^\s*/\* ?", "", text)
    return re.sub(r"^ \* ?", "", text, flags=re.M).strip("\n")


def bare(lines):
    """Declarations without comments, on one line."""
    return " ".join(re.sub(r"/\*.*?\*/", " ", "\n".join(lines), flags=re.S).split())


def declared_names(lines):
    text = bare(lines)
    constants = re.match(r"(?:typedef )?enum\s*\w*\s*\{(.*)\}", text)
    found = []
    if text.startswith("#define"):
        return [re.match(r"#define (\w+)", text).group(1)]
    if text.startswith("typedef"):
        pointer = re.search(r"\(\*(\w+)\)\(", re.sub(r"\{.*\}", "", text))
        found.append(pointer.group(1) if pointer else re.search(r"(\w+);$", text).group(1))
    elif re.match(r"struct \w+;", text):
        found.append(re.match(r"struct (\w+)", text).group(1))
    elif not constants:
        found.append(re.search(r"(\w+)\(", text).group(1))
    if constants:
        found += re.findall(r"(?:^|,)\s*(\w+)", constants.group(1))
    return found


def without_frame(lines):
    """Empties the lines that only C and C++ need: include guard, includes, extern "C"."""
    lines = ["" if GUARD.match(line) and line != "#endif" else line for line in lines]
    for start in range(len(lines) - 2):
        if lines[start:start + 3] in CPLUSPLUS:
            lines[start:start + 3] = ["", "", ""]
    return ["" if line == "#endif" else line for line in lines]


def take(lines, at, ends):
    """The index after the line at which ends(lines so far) is true."""
    stop = at + 1
    while stop < len(lines) and not ends(lines[at:stop]):
        stop += 1
    return stop


def comment_ends(lines):
    return lines[-1].rstrip().endswith("*/")


def declaration_ends(lines):
    text = "\n".join(lines)
    if text.startswith("#define"):
        return not lines[-1].endswith("\\")
    if text.count("/*") != text.count("*/"):
        return False
    text = bare(lines)
    return text.endswith(";") and text.count("{") == text.count("}")


def read_header(path):
    """The opening comment, and the items and headings (texts) below it."""
    lines = without_frame(path.read_text(encoding="utf-8").splitlines())
    end = take(lines, 0, comment_ends)
    opening, parts, at, item = comment_text(lines[:end]), [], end, None
    while at < len(lines):
        if not lines[at].strip():
            item, at = None, at + 1
        elif lines[at].startswith("/*"):
            end = take(lines, at, comment_ends)
            text = comment_text(lines[at:end])
            heading = HEADING.match(text) if text.startswith("---") else None
            item = None if heading else Item(at + 1, text)
            parts.append(" ".join(heading.group(1).rstrip("- ").split()) if heading else item)
            at = end
        else:
            end = take(lines, at, declaration_ends)
            if item is None:
                item = Item(at + 1)
                parts.append(item)
            item.declarations.append(lines[at:end])
            at = end
    return opening, parts


def problems(path, parts):
    """A sentence for each item that has no comment, and for each comment that has no item."""
    found = []
    for item in parts:
        if isinstance(item, str):
            continue
        if not item.declarations:
            found.append(f"{path.name}:{item.line}: this comment belongs to no declaration")
        for declaration in [] if item.comment else item.declarations:
            if "/*" not in "\n".join(declaration):
                found.append(f"{path.name}:{item.line}: {declared_names(declaration)[0]} has no comment")
    return found


class Writer:
    """Markdown from items, with links to all names."""

    def __init__(self, headers):
        self.places = {}  # name: page
        for page, (_, parts) in headers.items():
            for item in parts:
                if not isinstance(item, str):
                    self.places.update({name: page for name in item.names()})

    def link(self, name, page):
        place = self.places.get(name)
        if place is None:
            return f"`{name}`"
        return f"[`{name}`]({'' if place == page else place + '.md'}#{name})"

    def words(self, text, page):
        """Words of a comment: marks of Markdown escaped, public names linked, `code` kept."""
        pieces = re.split(r"(`[^`]*`)", text)
        for i in range(0, len(pieces), 2):
            marked, end = "", 0
            for match in NAME.finditer(pieces[i]):
                marked += escape(pieces[i][end:match.start()]) + self.link(match.group(), page)
                end = match.end()
            pieces[i] = marked + escape(pieces[i][end:])
        return "".join(pieces)

    def prose(self, text, page):
        """Paragraphs; those that are indented by four blanks or more, or are lists, stay as written."""
        paragraphs = []
        for paragraph in re.split(r"\n\s*\n", text):
            if re.match(r" {4}", paragraph):
                paragraphs.append(paragraph)
            elif re.search(r"^ ", paragraph, re.M):
                paragraphs.append("\n".join("    " + line for line in paragraph.splitlines()))
            else:
                paragraphs.append(self.words(paragraph, page))
        return "\n\n".join(paragraphs)

    def item(self, item, page):
        names = item.names()
        types = [name for name in names if not name.isupper()]
        title = ", ".join(types or names[:1]) + (" ..." if not types and len(names) > 1 else "")
        anchors = "".join(f'<a id="{name}"></a>' for name in names)
        code = "\n".join("\n".join(lines) for lines in item.declarations)
        return f"{anchors}\n\n### {escape(title)}\n\n```c\n{code}\n```\n\n" + (
            self.prose(item.comment, page) + "\n\n" if item.comment else "")

    def page(self, page, opening, parts):
        text = f"# {page}.h\n\n```c\n#include <polhode/{page}.h>\n```\n\n{self.prose(opening, page)}\n\n"
        for part in parts:
            text += f"## {escape(capital(part))}\n\n" if isinstance(part, str) else self.item(part, page)
        return text

    def index(self, headers):
        text = ("# The C interface\n\nEach public header has a page, made from its comments, which are the"
                " contract. `#include <polhode/polhode.h>` includes those of the core.\n\n"
                "| header | what |\n|---|---|\n")
        for page, (opening, _) in headers.items():
            what = " ".join(re.split(r"\n\s*\n", opening)[0].split())
            what = re.split(r"\. ", what + " ")[0].rstrip(".:, ")
            text += f"| [{page}.h]({page}.md) | {escape(what).replace('|', '&#124;')} |\n"
        text += "\n## All names\n\n"
        for name in sorted(self.places, key=str.lower):
            text += f"- {self.link(name, 'index')} in {self.places[name]}.h\n"
        return text


def capital(text):
    return text[:1].upper() + text[1:]


def escape(text):
    """Text in which Markdown sees no marks; those within words are none."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"[\\*\[\]#]|\b_|_\b", lambda mark: "\\" + mark.group(), text)


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        print(__doc__, file=sys.stderr)
        return 2
    paths = sorted(path for path in pathlib.Path(arguments[0]).glob("*.h") if path.stem != "polhode")
    if not paths:
        print(f"{arguments[0]}: there are no headers", file=sys.stderr)
        return 2
    headers = {path.stem: read_header(path) for path in paths}
    wrong = [text for path in paths for text in problems(path, headers[path.stem][1])]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    if len(arguments) == 2:
        folder = pathlib.Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        writer = Writer(headers)
        for page, (opening, parts) in headers.items():
            (folder / f"{page}.md").write_text(writer.page(page, opening, parts), encoding="utf-8")
        (folder / "index.md").write_text(writer.index(headers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
