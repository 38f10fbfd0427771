#!/usr/bin/env python3
"""Prints how many lines and branches of each room the tests reach, as a table.

    scripts/coverage_rooms.py SUMMARY.json [BEFORE.json]

from the summary of gcovr (--json-summary); with another one, the change from that.
"""
import collections
import json
import sys

KEYS = ("line_covered", "line_total", "branch_covered", "branch_total")


def rooms_of(path):
    """For each room, and for all: covered and total lines, covered and total branches."""
    rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
    with open(path) as file:
        files = json.load(file)["files"]
    for entry in files:
        room = entry["filename"].rsplit("/", 1)[0].split("src/")[-1]
        for name in (room, "all"):
            for i, key in enumerate(KEYS):
                rooms[name][i] += entry[key]
    return rooms


def share(covered, total):
    return 100.0 * covered / total if total > 0 else 100.0


def cell(now, before):
    """A share of 100, with that before if there is one."""
    return "%.1f %%" % now if before is None else "%.1f -> %.1f %%" % (before, now)


def main(arguments):
    now = rooms_of(arguments[0])
    before = rooms_of(arguments[1]) if len(arguments) > 1 else {}
    print("| room | lines | reached | branches | taken |\n|---|---|---|---|---|")
    for room in [*sorted(name for name in now if name != "all"), "all"]:
        lines, all_lines, branches, all_branches = now[room]
        old = before.get(room)
        print("| %s | %d | %s | %d | %s |" % (
            room, all_lines, cell(share(lines, all_lines), old and share(*old[:2])), all_branches,
            cell(share(branches, all_branches), old and share(*old[2:]))))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1:])
