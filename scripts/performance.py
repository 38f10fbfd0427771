#!/usr/bin/env python3
"""Writes the tables of docs/performance.md, between <!-- table: NAME --> and <!-- end of table -->, from what
the programs top_precision, mechanisms and sizes of bench/ have measured, and prints the ratios.

    scripts/performance.py FOLDER     of top_precision.csv, mechanisms.csv, sizes.csv; tables without a file stay
"""
import pathlib
import sys

from benchmarks import ROOT, least, machine, ratio, rows, time, unique, write_tables

PAGE = ROOT / "docs/performance.md"
OWN = "polhode"
KNOWN = ("measured", "extrapolated")
# methods of polhode that only docs/benchmarks.md lists
LEFT_OUT = ("rattle order 6", "geom1 so3xr3", "geom1 variable steps, stabilized-2", "vi-a euler-parameters",
            "em euler-parameters")


def name(row):
    return f"{row['program']} {row['method']}".strip()


def seconds(row):
    return float(row["seconds"])


def cell(row, best):
    """Time, how many times that of the fastest of polhode, and what was reached: error, and change of energy."""
    if row["status"] not in KNOWN:
        reached = float(row["error"])
        return f"– ({reached:.0e})" if reached > 0.0 else "–"
    mark = "~" if row["status"] == "extrapolated" else ""
    text = f"{mark}{time(seconds(row))}, {ratio(seconds(row) / best)}×"
    if row["status"] == "extrapolated":
        return text
    drift = float(row["drift"] or 0.0)
    return text + f" ({float(row['error']):.0e}" + (f"; {drift:.0e} J)" if drift else ")")


def accuracy_table(part):
    """Rows: methods with their class; columns: accuracies."""
    part = [r for r in part if r["target"]]
    targets = unique(r["target"] for r in part)
    best = {t: least([r for r in part if r["target"] == t and r["program"] == OWN]) for t in targets}
    lines = ["| | class | " + " | ".join(f"{float(t):.0e} m" for t in targets) + " |", "|---" * (len(targets) + 2) + "|"]
    absent = []
    for who in unique(name(r) for r in part):
        own = {r["target"]: r for r in part if name(r) == who}
        first = own[targets[0]]
        if first["status"] not in KNOWN + ("missed",):
            absent.append(f"{who}: {first['status']}")
            continue
        cells = [cell(own[t], best[t]) for t in targets]
        lines.append(f"| {who} | {first['class']} | " + " | ".join(cells) + " |")
    return "\n".join(lines + ([""] + [f"- {text}" for text in absent] if absent else []))


def size_table(part):
    """Microseconds per body and step; rows: methods with their class; columns: sizes."""
    sizes = unique(r["size"] for r in part)
    lines = ["| | class | error, 10 bodies | " + " | ".join(f"{int(s):,}".replace(",", " ") for s in sizes) + " |",
             "|---" * (len(sizes) + 3) + "|"]
    for who in unique(name(r) for r in part):
        own = {r["size"]: r for r in part if name(r) == who}
        first = own[sizes[0]]
        cells = [f"{1e6 * seconds(own[s]):.3g}" if s in own and not own[s]["note"] and seconds(own[s]) else "–"
                 for s in sizes]
        if all(c == "–" for c in cells):
            continue
        error = "–" if first["error"] == "nan" else f"{float(first['error']):.0e} m"
        lines.append(f"| {who} | {first['class']} | {error} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def short_rows(part, case):
    """The fastest of polhode against the fastest of the others, for each accuracy."""
    for target in unique(r["target"] for r in part if r["target"]):
        found = [r for r in part if r["target"] == target and r["status"] in KNOWN]
        own = min((r for r in found if r["program"] == OWN), key=seconds, default=None)
        other = min((r for r in found if r["program"] != OWN), key=seconds, default=None)
        text = [case, f"{float(target):.0e} m"]
        for row in (own, other):
            mark = "~" if row and row["status"] == "extrapolated" else ""
            text.append(f"{name(row).removeprefix(OWN + ' ')}, {mark}{time(seconds(row))}" if row else "none")
        text.append(ratio(seconds(other) / seconds(own)) if own and other else "–")
        yield "| " + " | ".join(text) + " |"


def short_table(top, mechanisms):
    lines = ["| | error | fastest of polhode | fastest of the others | ratio |", "|---|---|---|---|---|"]
    lines += short_rows(top, "heavy top")
    for case in unique(r["case"] for r in mechanisms):
        lines += short_rows([r for r in mechanisms if r["case"] == case], case)
    return "\n".join(lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    files = {stem: rows(folder / f"{stem}.csv") if (folder / f"{stem}.csv").exists() else []
             for stem in ("top_precision", "mechanisms", "sizes")}
    tables = {"machine": machine()}
    if files["top_precision"]:
        tables["heavy top"] = accuracy_table([r for r in files["top_precision"] if r["method"] not in LEFT_OUT])
    for case in unique(r["case"] for r in files["mechanisms"]):
        tables[case] = accuracy_table([r for r in files["mechanisms"] if r["case"] == case])
    if files["top_precision"] and files["mechanisms"]:
        tables["short"] = short_table(files["top_precision"], files["mechanisms"])
        print(tables["short"])
    for model in ("spherical chain", "four-bar loops"):
        if files["sizes"]:
            tables[model] = size_table([r for r in files["sizes"] if r["model"] == model])
    write_tables(PAGE, tables)


if __name__ == "__main__":
    main()
