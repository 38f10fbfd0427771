#!/usr/bin/env python3
"""Writes the tables of docs/benchmarks.md, between <!-- table: NAME --> and <!-- end of table -->, from what
the programs top_precision, examples and sizes of bench/ have measured.

    scripts/benchmarks.py FOLDER     of top_precision.csv, examples.csv, sizes.csv; tables without a file stay
"""
import csv
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks.md"
PART = re.compile(r"<!-- table: ([^>]+) -->\n.*?<!-- end of table -->\n", re.S)


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def unique(values):
    return list(dict.fromkeys(values))


def time(seconds):
    """Three digits with a unit: 1.23 ms."""
    for unit, factor in (("µs", 1e6), ("ms", 1e3), ("s", 1.0)):
        if seconds * factor < 999.5 or unit == "s":
            number = f"{seconds * factor:.3g}"
            return f"{number} {unit}"


def ratio(value):
    """Two digits, never with an exponent: 1.3, 27, 270."""
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{round(value, 1 - math.floor(math.log10(value))):.{digits}f}"


def cell(row, best):
    """Time, how many times the best of the column, and what was set: steps or tolerance."""
    if row["status"] not in ("measured", "extrapolated"):
        return "–"
    seconds = float(row["seconds"])
    setting = float(row["setting"])
    setting = f"{setting:.0f}" if row["kind"] == "steps" else f"{setting:.0e}"
    if row["status"] == "extrapolated":
        return f"~{time(seconds)}, {ratio(seconds / best)}×"
    mark = "**" if seconds == best else ""
    return f"{mark}{time(seconds)}{mark}, {ratio(seconds / best)}× ({setting})"


def least(part):
    """The least time of the measured ones."""
    return min((float(r["seconds"]) for r in part if r["status"] == "measured"), default=float("inf"))


def accuracy_table(part):
    """Rows: methods; columns: accuracies."""
    part = [r for r in part if r["target"]]
    targets = unique(r["target"] for r in part)
    columns = {t: [r for r in part if r["target"] == t] for t in targets}
    lines = ["| | " + " | ".join(f"{float(t):.0e}" for t in targets) + " |", "|---" * (len(targets) + 1) + "|"]
    for program, method in unique((r["program"], r["method"]) for r in part):
        cells = []
        for target in targets:
            row = next(r for r in columns[target] if (r["program"], r["method"]) == (program, method))
            cells.append(cell(row, least(columns[target])))
        known = row["status"] in ("measured", "extrapolated", "missed")
        name = method if program == "polhode" else f"{program} {method}"
        if not known:  # refused, or not built
            cells = [row["status"]] + [""] * (len(targets) - 1)
        lines.append(f"| {name.strip()} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ratio_table(part):
    """How many times as fast the best of rattle is as the best of the others."""
    lines = ["| | accuracy | rattle | | best of the others | | ratio |", "|---|---|---|---|---|---|---|"]
    for case in unique(r["case"] for r in part):
        for target in unique(r["target"] for r in part if r["target"]):
            found = [r for r in part if r["case"] == case and r["target"] == target
                     and r["status"] in ("measured", "extrapolated")]
            new = [r for r in found if r["method"].startswith("rattle")]
            old = [r for r in found if not r["method"].startswith("rattle")]
            key = lambda r: float(r["seconds"])
            text = [case, f"{float(target):.0e}"]
            for group in (new, old):
                best = min(group, key=key, default=None)
                mark = "~" if best and best["status"] == "extrapolated" else ""
                text += [best["method"].removeprefix("rattle "), mark + time(key(best))] if best else ["none reaches it", "–"]
            text.append(ratio(key(min(old, key=key)) / key(min(new, key=key))) if new and old else "")
            lines.append("| " + " | ".join(text) + " |")
    return "\n".join(lines)


def size_table(part):
    """Microseconds per body and step; rows: methods; columns: sizes."""
    sizes = unique(r["size"] for r in part)
    lines = ["| | error, 10 bodies | " + " | ".join(f"{int(s):,}".replace(",", " ") for s in sizes) + " |",
             "|---" * (len(sizes) + 2) + "|"]
    for program, method in unique((r["program"], r["method"]) for r in part):
        own = [r for r in part if (r["program"], r["method"]) == (program, method)]
        cells = []
        for size in sizes:
            row = next((r for r in own if r["size"] == size), None)
            seconds = float(row["seconds"]) if row and not row["note"] else 0.0
            other = f" (at {row['bodies']})" if seconds and int(row["bodies"]) < 0.99 * int(size) else ""
            cells.append(f"{1e6 * seconds:.3g}{other}" if seconds else "–")
        error = own[0]["error"]
        name = method if program == "polhode" else f"{program} {method}".strip()
        lines.append(f"| {name} | {'–' if error == 'nan' else f'{float(error):.0e} m'} | " + " | ".join(cells) + " |")
    notes = []
    for program, note in unique((r["program"], r["note"]) for r in part if r["note"]):
        methods = unique(r["method"] for r in part if (r["program"], r["note"]) == (program, note))
        notes.append(f"- {program} {', '.join(methods)}".strip() + f": {note}")
    return "\n".join(lines + ([""] + notes if notes else []))


def machine():
    """Processor and compiler, in words."""
    found = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    compiler = subprocess.run(["cc", "--version"], capture_output=True, encoding="utf-8", check=True).stdout
    return f"{found[1] if found else 'unknown processor'}; {compiler.splitlines()[0]}; one thread."


def write_tables(path, tables):
    """Puts each table into its place in a page."""
    page = path.read_text(encoding="utf-8")
    missing = set(tables) - set(PART.findall(page))
    if missing:
        sys.exit(f"{path.relative_to(ROOT)} has no place for: {', '.join(sorted(missing))}")

    def replace(part):
        if part[1] not in tables:
            return part[0]
        return f"<!-- table: {part[1]} -->\n\n{tables[part[1]]}\n\n<!-- end of table -->\n"

    path.write_text(PART.sub(replace, page), encoding="utf-8")
    print(f"==> {path.relative_to(ROOT)}")


def main():
    folder = pathlib.Path(sys.argv[1])
    tables = {"machine": machine()}
    if (folder / "top_precision.csv").exists():
        tables["heavy top"] = accuracy_table(rows(folder / "top_precision.csv"))
    if (folder / "examples.csv").exists():
        part = rows(folder / "examples.csv")
        tables["examples"] = ratio_table(part)
        tables["each example"] = "\n\n".join(
            f"**{case}**\n\n" + accuracy_table([r for r in part if r["case"] == case])
            for case in unique(r["case"] for r in part))
    if (folder / "sizes.csv").exists():
        part = rows(folder / "sizes.csv")
        for model in unique(r["model"] for r in part):
            tables[model] = size_table([r for r in part if r["model"] == model])
    write_tables(PAGE, tables)


if __name__ == "__main__":
    main()
