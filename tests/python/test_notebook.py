#!/usr/bin/env python3
"""The notebook: it is the one of its source, its cells run, and what they show is right.

    test_notebook.py SOURCE_DIR
"""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import unittest

import matplotlib
import numpy as np

matplotlib.use("Agg")
SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()


def run_cells():
    """Runs the cells of code in order, as Jupyter does in the folder of the notebook; the names, and the output."""
    cells = json.loads((SOURCE / "docs/notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    names, output = {"__name__": "__main__"}, io.StringIO()
    os.chdir(SOURCE / "docs")
    with contextlib.redirect_stdout(output):
        for cell in cells:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    return names, output.getvalue()


class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names, cls.output = run_cells()

    def test_it_is_that_of_its_source(self):
        subprocess.run([sys.executable, SOURCE / "scripts/notebook.py", "--check"], check=True)

    def test_it_is_a_valid_notebook(self):
        try:
            import nbformat
        except ImportError:
            self.skipTest("nbformat is not installed")
        nbformat.validate(nbformat.read(SOURCE / "docs/notebook.ipynb", as_version=4))

    def test_double_pendulum(self):
        swing, heavier = self.names["swing"], self.names["heavier"]
        self.assertEqual(len(swing.t), 5001)
        self.assertLess(np.ptp(swing["energy.total"]), 1e-7)
        # the rods, of 1 kg each, start at rest at the height of the hinge
        depth = -(swing["upper.position.z"] + swing["lower.position.z"])
        np.testing.assert_allclose(swing["energy.kinetic"], 9.81 * depth, atol=1e-7)
        apart = np.linalg.norm(swing["lower.position"] - heavier["lower.position"], axis=1)
        self.assertLess(apart[100], 1e-4)
        self.assertGreater(apart.max(), 0.01)

    def test_arm_reaches_its_target(self):
        """At rest, the torques of the motors carry the weights beyond their joints."""
        motion, target, stiffness = (self.names[name] for name in ("motion", "target", "stiffness"))
        bodies = {body["name"]: body["mass"] for body in self.names["arm"].to_dict()["bodies"]}
        for joint, point, beyond in (("shoulder", (0.0, 0.0), ("upper", "fore", "left_finger", "right_finger")),
                                     ("elbow", None, ("fore", "left_finger", "right_finger"))):
            if point is None:  # at the end of the upper arm, which is 0.4 m long, its centre in the middle
                point = 2 * motion["upper.position"][-1][:2]
            turned = motion["turn.angle"][-1]
            out = np.array([np.cos(turned), np.sin(turned)])
            torque = sum(bodies[name] * 9.81 * (motion[f"{name}.position"][-1][:2] - point) @ out for name in beyond)
            given = stiffness[joint] * (target[joint] - motion[f"{joint}.angle"][-1])
            self.assertAlmostEqual(given, -torque, delta=0.12)  # the friction of the shoulder is 0.1 N m
            self.assertLess(abs(motion[f"{joint}.rate"][-1]), 1e-3)
        self.assertAlmostEqual(motion["turn.angle"][-1], target["turn"], delta=1e-3)

    def test_plots_and_pages(self):
        import matplotlib.pyplot as plt
        self.assertEqual(len(plt.get_fignums()), 3)
        curves = [line.get_label() for line in plt.figure(3).gca().lines]
        self.assertEqual(curves, ["turn.angle", "shoulder.angle", "elbow.angle"])
        self.assertIn("<iframe", self.names["motion"].view()._repr_html_())
        self.assertIn("change of the energy:", self.output)
        self.assertIn("elbow", self.output)


if __name__ == "__main__":
    unittest.main()
