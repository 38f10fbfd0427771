#!/usr/bin/env python3
"""Writes what follows from the tables of keys of a model file (src/io/model/fields.c): the JSON Schema,
and the tables of docs/model-format.md between <!-- keys: KIND --> and <!-- end of keys -->.

    scripts/reference.py POLHODE            writes both files
    scripts/reference.py POLHODE --check    prints what is out of date; exit status 1 if anything is
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schema/polhode-model.schema.json"
PAGE = ROOT / "docs/model-format.md"
PART = re.compile(r"<!-- keys: (\S+) -->\n.*?<!-- end of keys -->\n", re.S)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def files(polhode):
    """The files as they should be: {path: text}."""
    parts = re.split(r"^<!-- keys: (\S+) -->\n", output(polhode, "schema", "--keys"), flags=re.M)
    tables = {name: text.strip() for name, text in zip(parts[1::2], parts[2::2])}
    page = PAGE.read_text(encoding="utf-8")
    shown = PART.findall(page)
    if sorted(shown) != sorted(tables):
        sys.exit(f"{PAGE.relative_to(ROOT)} must have a table of keys for each of: {', '.join(tables)};\n"
                 f"it has: {', '.join(shown)}")
    text = PART.sub(lambda part: f"<!-- keys: {part[1]} -->\n\n{tables[part[1]]}\n\n<!-- end of keys -->\n", page)
    return {SCHEMA: output(polhode, "schema"), PAGE: text}


def main():
    stale = 0
    for path, text in files(sys.argv[1]).items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale = 1
        if sys.argv[2:] == ["--check"]:
            print(f"{path.relative_to(ROOT)} is out of date: make reference")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"==> {path.relative_to(ROOT)}")
    return stale if sys.argv[2:] == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main())
