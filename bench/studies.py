#!/usr/bin/env python3
"""Studies: runs per second of 1 000 heavy tops with one and two processes and under mpirun, then the same study killed ten
times at random moments; all files must have the same bytes.

    bench/studies.py [BUILD] [--runs N] [--rounds N] [--kills N] [--seed N]     BUILD: build/release

Prints the table of docs/studies.md.  Exit status 1 if a file differs.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MPIRUN = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "-n"]


def write_study(folder, runs):
    study = {
        "model": str(ROOT / "models/bruels-cardona-2010/heavy_top.json"),
        "sample": "latin-hypercube",
        "count": runs,
        "vary": {"bodies.top.mass": {"from": 10, "to": 20}, "bodies.top.angular_velocity[1]": {"from": 100, "to": 200}},
        "responses": [{"name": "lowest point", "signal": "top.position.z", "reduce": "min"}],
        "signals": ["top.position"],
    }
    path = folder / "study.json"
    path.write_text(json.dumps(study))
    return path


def measure(words, out):
    start = time.monotonic()
    subprocess.run([*words, "--out", str(out), "--restart", "--quiet"], check=True)
    return time.monotonic() - start


def kill_and_resume(command, study, out, kills, whole, chance):
    """Ends the group of processes of the study after a random part of its time, each time again; bytes of the journal then."""
    for _ in range(kills):
        process = subprocess.Popen([*command, str(study), "--jobs", "2", "--out", str(out), "--quiet"],
                                   start_new_session=True)
        try:
            process.wait(chance.uniform(0.02, 0.2) * whole)
            return 0  # it was done before
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    size = pathlib.Path(f"{out}.journal").stat().st_size
    subprocess.run([*command, str(study), "--jobs", "2", "--out", str(out), "--quiet"], check=True)
    return size


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?", default=str(ROOT / "build/release"))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build).resolve()
    sweep = [str(build / "polhode"), "sweep"]
    rows = {"--jobs 1": lambda s: [*sweep, s, "--jobs", "1"], "--jobs 2": lambda s: [*sweep, s, "--jobs", "2"]}
    mpi = build / "polhode-mpi"
    if mpi.exists() and shutil.which("mpirun"):
        rows["mpirun -n 2"] = lambda s: [*MPIRUN, "2", str(mpi), "sweep", s]
    else:
        print("mpirun or polhode-mpi is missing: left out", file=sys.stderr)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        study = write_study(folder, arguments.runs)
        times, files = {row: [] for row in rows}, {}
        for _ in range(arguments.rounds):  # in turns, so that a noisy moment hits all
            for row, words in rows.items():
                out = folder / "study.h5"
                times[row].append(measure(words(str(study)), out))
                files.setdefault(out.read_bytes(), []).append(row)
        print(f"{arguments.runs} heavy tops, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
        print("| | runs per second, median | ratio, median | ratio, range |\n|---|---|---|---|")
        for row in rows:
            ratios = [one / own for one, own in zip(times["--jobs 1"], times[row])]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}" if row != "--jobs 1" else ""
            print(f"| `{row}` | {arguments.runs / statistics.median(times[row]):.0f} | "
                  f"{statistics.median(ratios):.2f} | {spread} |")
        out = folder / "killed.h5"
        size = kill_and_resume(sweep, study, out, arguments.kills, min(times["--jobs 2"]), random.Random(arguments.seed))
        files.setdefault(out.read_bytes(), []).append("killed")
        print(f"\nkilled {arguments.kills} times: " + (f"{size} bytes of journal before the last start"
                                                     if size else "it was done before the last kill"))
        print("all files have the same bytes" if len(files) == 1 else f"the files differ: {list(files.values())}")
        return 0 if len(files) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
