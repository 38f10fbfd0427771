#!/usr/bin/env python3
"""Runs mechanisms with closed loops, shipped and generated, with variable step size at
tolerances from 1e-2 to 1e-8, and compares each run with one at a tight tolerance.

    scripts/adaptive_sweep.py POLHODE [--out PAGE.md] [--set KEY=VALUE] [--formulation F] [NAME ...]

Error: the largest difference of a position (relative to the largest coordinate) or of an entry of a
rotation matrix, over all bodies and 20 output times.  A run must reach its end, and each error must
be smaller than the one before.  Two errors above 0.3 are not compared (the tolerance is too coarse
for the motion), nor are runs with no more steps than the one before (the rotation per step limits
the step size, not the tolerance).  Exit status 0 if all runs satisfy this.
"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TOLERANCES = [10.0 ** -k for k in range(2, 9)]
REFERENCE = 1e-10
TIMES = 20
COARSE = 0.3

PAGE = """# Adaptive sweep: variable steps on closed loops

`make sweep` (`scripts/adaptive_sweep.py`) generates this page. It runs mechanisms with closed loops, from the model
folder and randomly generated, with variable step size and the default settings for `rtol` = `atol` = eps
({settings}). Most have redundant constraints, and the set of dropped constraints changes during the run. The error of
a run is its difference to a run with eps = {reference:.0e}: the largest difference of a position (relative to the largest
coordinate) or of an entry of a rotation matrix, over all bodies and {times} output times.

A run must reach its end, and its error must be smaller than at the previous tolerance. Two exceptions are marked.
*coarse*: both errors are above {coarse}; the tolerance is too coarse for the motion. *limited*: the run has no more steps
than the previous one, since the rotation per step limits the step size. `tests/simulation/test_variable_loops.c`
runs a part of this in the tests.

{runs} runs of {mechanisms} mechanisms: {failed} failed, {wrong} with an error that is not smaller.
"""

# --- generated mechanisms -----------------------------------------------------------------------


def link(name, a, b, mass, speed=None):
    """A slender bar from a to b in the plane z = const, with a speed about z that is kept."""
    length, angle = math.dist(a, b), math.atan2(b[1] - a[1], b[0] - a[0])
    slender = mass * length**2 / 12
    body = {
        "name": name,
        "mass": mass,
        "inertia": [0.01 * slender, slender, slender],
        "position": [0.5 * (p + q) for p, q in zip(a, b)],
        "rotation": {"axis": [0, 0, 1], "angle": angle},
    }
    if speed is not None:
        body["angular_velocity"] = [0, 0, speed]
        body["keep"] = {"angular_velocity": ["z"]}
    return body


def hinge(name, first, second, point, axis=(0, 0, 1)):
    return {"name": name, "type": "revolute", "bodies": [first, second], "point": list(point),
            "axis": list(axis)}


def across(p, q, a, b):
    """The point at the distance a of p and b of q, to the left of the line from p to q."""
    d = math.dist(p, q)
    along = (a * a - b * b + d * d) / (2 * d)
    height = math.sqrt(a * a - along * along)
    ex, ey = (q[0] - p[0]) / d, (q[1] - p[1]) / d
    return (p[0] + along * ex - height * ey, p[1] + along * ey + height * ex, 0)


def four_bar(seed, end=1.0):
    """A crank that turns around: shortest + longest link less than the sum of the others."""
    r = random.Random(seed)
    crank, ground = r.uniform(0.3, 0.5), r.uniform(1.6, 2.2)
    coupler, rocker = r.uniform(1.5, 2.0), r.uniform(1.4, 1.8)
    while crank + max(ground, coupler, rocker) > 0.9 * (
            ground + coupler + rocker - max(ground, coupler, rocker)):
        crank *= 0.9
    angle = r.uniform(0, 2 * math.pi)
    A, D = (0, 0, 0), (ground, 0, 0)
    B = (crank * math.cos(angle), crank * math.sin(angle), 0)
    C = across(B, D, coupler, rocker)
    return {
        "name": f"four-bar {seed}",
        "gravity": [0, -9.81, 0],
        "bodies": [link("crank", A, B, r.uniform(0.5, 2), r.uniform(5, 12)),
                   link("coupler", B, C, r.uniform(0.5, 2)), link("rocker", C, D, r.uniform(1, 2))],
        "joints": [hinge("A", "ground", "crank", A), hinge("B", "crank", "coupler", B),
                   hinge("C", "coupler", "rocker", C), hinge("D", "rocker", "ground", D)],
        "simulation": {"end": end},
    }


def door(hinges):
    """A door with more hinges than it needs, off the vertical."""
    return {
        "name": f"door on {hinges} hinges",
        "gravity": [0, -3, -9.81],
        "bodies": [{"name": "door", "mass": 10, "inertia": [1, 1.6, 0.6],
                    "position": [0.4, 0, 1], "angular_velocity": [0, 0, 1]}],
        "joints": [hinge(f"hinge {i}", "ground", "door", (0, 0, 0.2 + 0.4 * i)) for i in range(hinges)],
        "simulation": {"end": 2.0},
    }


def bricard():
    """Six equal bars along edges of a cube, each hinge across both of its bars: one degree of
    freedom by its geometry alone, as it turns inside out."""
    corners = [(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1)]
    along = [[p != q for p, q in zip(corners[k], corners[(k + 1) % 6])].index(True)
             for k in range(6)]
    names = ["ground"] + [f"bar {k}" for k in range(1, 6)]
    bodies, joints = [], []
    for k in range(6):
        if k:
            bodies.append({"name": names[k], "mass": 1,
                           "inertia": [0.001 if i == along[k] else 0.0833 for i in range(3)],
                           "position": [0.5 * (p + q) for p, q in
                                        zip(corners[k], corners[(k + 1) % 6])]})
        axis = [0, 0, 0]
        axis[3 - along[k] - along[k - 1]] = 1
        joints.append(hinge(f"hinge {k + 1}", names[k - 1], names[k], corners[k], axis))
    return {"name": "Bricard loop", "gravity": [0, 0, -9.81], "bodies": bodies, "joints": joints,
            "simulation": {"end": 1.0}}


def shipped(path, end):
    return lambda: (os.path.join(ROOT, "models", path), end)


MODELS = {
    "four-bar with a motor": shipped("examples/four_bar_motor.json", 10),
    "Stewart platform": shipped("examples/stewart_platform.json", None),
    "planetary gear": shipped("examples/planetary_gear.json", None),
    "suspension": shipped("examples/suspension.json", None),
    "slider-crank": shipped("holzinger-arnold-gerstmayr/slider_crank.json", 1),
    "squeezer": shipped("examples/squeezer.json", None),
    "governor": shipped("examples/governor.json", None),
    "parallelogram": lambda: (os.path.join(ROOT, "tests/data/loops/parallelogram.json"), None),
    "door on 4 hinges": lambda: (door(4), None),
    "Bricard loop": lambda: (bricard(), None),
}
for seed in range(1, 6):
    MODELS[f"four-bar {seed}"] = lambda seed=seed: (four_bar(seed), None)

# --- runs ---------------------------------------------------------------------------------------


def run(program, model, end, tolerance, folder, extra):
    """Counts of the run and its rows, or why it failed."""
    out = os.path.join(folder, "result.csv")
    if os.path.exists(out):
        os.remove(out)
    with open(model, encoding="utf-8") as file:
        end = end or json.load(file)["simulation"]["end"]
    command = [program, "run", model, "--json", "--quiet", "--out", out, "--rtol", str(tolerance),
               "--atol", str(tolerance), "--end", str(end)]
    command += ["--set", 'simulation.output={"step": %.17g}' % (end / TIMES)] + extra
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(" ".join(command) + "\n" + done.stderr)
    counts = json.loads(done.stdout)
    if done.returncode:
        return counts, None, done.stderr.strip().splitlines()[0].split(": ", 1)[-1]
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    head = rows[0]
    if len(rows) != TIMES + 2:
        return counts, None, f"{len(rows) - 1} rows"
    return counts, read_poses(head, [[float(x) for x in row] for row in rows[1:]]), ""


def read_poses(head, rows):
    """Positions of each row, and rotation matrices."""
    column = {name: i for i, name in enumerate(head)}
    bodies = [name[: -len(".position.x")] for name in head if name.endswith(".position.x")]
    poses = []
    for row in rows:
        positions, rotations = [], []
        for body in bodies:
            positions += [row[column[f"{body}.position.{k}"]] for k in "xyz"]
            if f"{body}.quaternion.w" in column:
                w, x, y, z = (row[column[f"{body}.quaternion.{k}"]] for k in "wxyz")
                rotations += [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                              2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                              2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
        poses.append((positions, rotations))
    return poses


def difference(a, b):
    size = max(abs(x) for positions, _ in b for x in positions)
    far = max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p[0], q[0])) / size
    turned = max((abs(x - y) for p, q in zip(a, b) for x, y in zip(p[1], q[1])), default=0.0)
    return max(far, turned)


def sweep(program, name, folder, extra):
    """Rows (tolerance, steps, rejected, error, verdict) of one mechanism."""
    model, end = MODELS[name]()
    if isinstance(model, dict):
        path = os.path.join(folder, "model.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(model, file, indent=1)
        model = path
    _, reference, why = run(program, model, end, REFERENCE, folder, extra)
    if reference is None:
        return [(REFERENCE, 0, 0, math.nan, "failed: " + why)]
    rows, last, last_steps = [], math.inf, 0
    for tolerance in TOLERANCES:
        counts, poses, why = run(program, model, end, tolerance, folder, extra)
        error = difference(poses, reference) if poses else math.nan
        if poses is None:
            verdict = "failed: " + why
        elif error < last:
            verdict = "ok"
        elif error > COARSE and last > COARSE:
            verdict = "coarse"
        else:
            verdict = "limited" if counts["steps"] <= last_steps else "not smaller"
        last, last_steps = error, counts["steps"]
        rows.append((tolerance, counts["steps"], counts["rejected"], error, verdict))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("names", nargs="*", help="mechanisms; all without")
    parser.add_argument("--out", help="write the tables to this page")
    parser.add_argument("--set", action="append", default=[], help="as of polhode run")
    parser.add_argument("--formulation", help="as of polhode run")
    options = parser.parse_args()
    names = options.names or list(MODELS)
    extra = [x for pair in options.set for x in ("--set", pair)]
    if options.formulation:
        extra += ["--formulation", options.formulation]
    verdicts, page = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            rows = sweep(options.program, name, folder, extra)
            verdicts += [verdict for *_, verdict in rows]
            lines = [f"| {name}: eps | steps | rejected | error | |", "|---|---|---|---|---|"]
            lines += [f"| {t:.0e} | {steps} | {rejected} | {error:.1e} | {verdict} |"
                      for t, steps, rejected, error, verdict in rows]
            print("\n".join(lines) + "\n", flush=True)
            page += [""] + lines
    failed = sum(verdict.startswith("failed") for verdict in verdicts)
    wrong = verdicts.count("not smaller")
    if options.out:
        settings = " ".join(extra) if extra else "geom1, stabilized-2, so3xr3"
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(PAGE.format(settings=settings, reference=REFERENCE, times=TIMES,
                                   coarse=COARSE, runs=len(verdicts), mechanisms=len(names),
                                   failed=failed, wrong=wrong))
            file.write("\n".join(page) + "\n")
    print(f"{len(verdicts)} runs, {failed} failed, {wrong} with an error that is not smaller")
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
