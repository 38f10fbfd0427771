#!/usr/bin/env python3
"""Measures the viewer with very many bodies: the size of the page and the time of a frame.

    measure.py POLHODE [--bodies N] [--frames N] [--count N] [--keep FOLDER]

The motion is made up.  Each frame is one jump in time, drawn to the end: the pose of all bodies, the
upload to the graphics, the plot, and pixels read back.  When scrubbing, the browser's own clock asks
for the frames and puts them on the screen, and the page chooses the number of pixels.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

from browser import Browser


def write_model(path, bodies):
    """Cylinders without joints."""
    shape = [{"type": "cylinder", "radius": 0.3, "length": 0.9, "axis": [1, 0, 0]}]
    model = {"name": f"{bodies} bodies", "gravity": [0, 0, -9.81],
             "bodies": [{"name": f"body {b + 1}", "mass": 1, "inertia": [0.05, 0.1, 0.1],
                         "shapes": shape} for b in range(bodies)],
             "simulation": {"step": 0.001, "end": 1}}
    path.write_text(json.dumps(model))


def write_result(path, bodies, frames):
    """Time, positions and quaternions: the bodies turn in a field that waves."""
    names = ["t"]
    for b in range(1, bodies + 1):
        names += [f"body {b}.position.{c}" for c in "xyz"]
        names += [f"body {b}.quaternion.{c}" for c in "wxyz"]
    side = math.ceil(math.sqrt(bodies))
    with open(path, "w", encoding="ascii") as file:
        file.write(",".join(names) + "\n")
        for f in range(frames):
            t = f / (frames - 1)
            row = [f"{t:.6g}"]
            for b in range(bodies):
                x, y = b % side, b // side
                angle = 6 * t + 0.2 * x
                row += [f"{v:.6g}" for v in (x, y, 2 * math.sin(0.4 * x + 0.3 * y - 6 * t),
                                            math.cos(angle), 0, math.sin(angle), 0)]
            file.write(",".join(row) + "\n")


def late(times):
    """What 95 % of the times are below."""
    return times[int(0.95 * (len(times) - 1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("polhode")
    parser.add_argument("--bodies", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--count", type=int, default=100, help="frames that are drawn")
    parser.add_argument("--keep", help="folder for the page and a picture")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(options.keep or folder)
        model, result, page = place / "many.json", place / "many.csv", place / "many.html"
        write_model(model, options.bodies)
        write_result(result, options.bodies, options.frames)
        summary = json.loads(subprocess.run(
            [options.polhode, "view", str(result), "--model", str(model), "--out", str(page),
             "--json"], check=True, stdout=subprocess.PIPE).stdout)
        with Browser(1280, 800, timeout=600) as browser:
            browser.open(str(page), "#paused")
            load = browser.run("performance.timing.loadEventEnd - performance.timing.navigationStart")
            browser.wait_for("window.polhode !== undefined")
            browser.run("polhode.measure(5)")
            count = options.count
            times = sorted(browser.run(f"polhode.measure({count})"))
            coarse = sorted(browser.run(f"polhode.measure({count}, 0.5)"))
            work = sorted(browser.run(f"polhode.work({count})"))
            browser.run("polhode.scrub(10)")
            scrub = sorted(browser.run(f"polhode.scrub({count})"))
            state = browser.run("polhode.state()")
            renderer = browser.run(
                "(() => { const gl = document.createElement('canvas').getContext('webgl');"
                " const info = gl.getExtension('WEBGL_debug_renderer_info');"
                " return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : 'unknown'; })()")
            if options.keep:
                browser.screenshot(str(place / "many.png"))
    print(f"bodies          {summary['bodies']}, {summary['frames']} frames")
    print(f"page            {summary['bytes'] / 1e6:.2f} MB, loaded in {load / 1000:.2f} s")
    print(f"drawn           {state['triangles']} triangles in {state['drawCalls']} calls")
    print(f"frame           best {times[0]:.1f} ms, median {statistics.median(times):.1f} ms, 95 % {late(times):.1f} ms")
    print(f"  half the ratio   median {statistics.median(coarse):.1f} ms, 95 % {late(coarse):.1f} ms")
    print(f"scrubbing       median {statistics.median(scrub):.1f} ms, 95 % {late(scrub):.1f} ms, "
          f"{len(scrub) / sum(scrub) * 1000:.0f} frames a second")
    print(f"without drawing median {statistics.median(work):.2f} ms, 95 % {late(work):.2f} ms")
    print(f"renderer        {renderer}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
