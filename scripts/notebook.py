#!/usr/bin/env python3
"""Makes docs/notebook.ipynb from docs/notebook.py, its source: cells start with "# %%", those of text with
"# %% [markdown]" and are comments.

    notebook.py           writes the notebook
    notebook.py --check   fails if it is not the one that the source makes
"""
import json
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def cells(source):
    """(kind, text) of the cells of a script: "markdown" or "code"."""
    found = []
    for part in re.split(r"^# %%", source, flags=re.M)[1:]:
        mark, _, text = part.partition("\n")
        text = text.strip("\n")
        if mark.strip() == "[markdown]":
            found.append(("markdown", "\n".join(re.sub(r"^# ?", "", line) for line in text.split("\n"))))
        elif not mark.strip():
            found.append(("code", text))
        else:
            raise ValueError(f"unknown cell: # %%{mark}")
    return found


def notebook(source):
    """The text of the notebook, without outputs."""
    made = []
    for i, (kind, text) in enumerate(cells(source)):
        cell = {"cell_type": kind, "id": f"cell-{i}", "metadata": {}, "source": text.splitlines(keepends=True)}
        made.append(cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []})
    return json.dumps({
        "cells": made,
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                     "language_info": {"name": "python"}},
        "nbformat": 4, "nbformat_minor": 5}, indent=1, sort_keys=True) + "\n"


def main():
    target, text = DOCS / "notebook.ipynb", notebook((DOCS / "notebook.py").read_text(encoding="utf-8"))
    if "--check" not in sys.argv:
        target.write_text(text, encoding="utf-8")
    elif target.read_text(encoding="utf-8") != text:
        sys.exit("docs/notebook.ipynb is not that of docs/notebook.py: run scripts/notebook.py")


if __name__ == "__main__":
    main()
