#!/usr/bin/env python3
"""The viewer's page in a headless Chromium: it loads, plays, obeys keys and mouse, and looks right.

    test_page.py POLHODE SOURCE_DIR

Writes its pages into the current folder, and a picture of each test that looks at one.
"""
import csv
import json
import math
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from browser import FLAGS, Picture, find_browser
from page_case import (FRAMES, SCENE, VIEW, Context, PageTest, is_blue, make_page, polhode,
                       real_problems, run_tests)


class Loading(PageTest):
    def test_needs_nothing_but_itself(self):
        self.open()
        asked = [url for url in self.browser.requests if not url.startswith("data:")]
        self.assertEqual(asked, ["file://" + os.path.abspath(self.page)])
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("The MIT License", text)
        self.assertIn("three.js authors", text)
        self.assertEqual(self.browser.run("document.title"), "Heavy top \u2013 polhode")

    def test_poses_are_those_of_the_result(self):
        self.open()
        with open(self.result, encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        for number in (0, 1, 300, 777, 1000):
            row = rows[number]
            self.browser.run(f"polhode.seek({row['t']})")
            self.browser.wait_for(f"Math.abs(polhode.state().time - {row['t']}) < 1e-6")
            self.browser.run(FRAMES)
            state = self.state()
            for c in range(3):
                wanted = float(row["top.position." + "xyz"[c]])
                # the path is 2 m wide: 2 / 65534 a step; times are single precision
                self.assertAlmostEqual(state["positions"][c], wanted, delta=5e-5)
            q = [float(row["top.quaternion." + c]) for c in "wxyz"]
            dot = abs(sum(a * b for a, b in zip(q, state["quaternions"])))
            self.assertLess(2 * math.acos(min(dot, 1.0)), 1e-3)

    def test_channels_are_there(self):
        self.open()
        names = self.browser.run("polhode.channels()")
        for name in ("top.position.x", "top.quaternion.w", "energy.total", "tip.force.z",
                     "top.angular_velocity.y"):
            self.assertIn(name, names)
        self.assertNotIn("t", names)

    def test_every_model_with_everything_shown(self):
        models = sorted(Context.source.glob("models/*/*.json"))
        self.assertGreaterEqual(len(models), 15)
        for number, model in enumerate(models):
            with self.subTest(model=model.name):
                # results of a few steps: this is about drawing, not about motion
                step = json.loads(model.read_text(encoding="utf-8"))["simulation"].get("step", 0.01)
                page, _ = make_page(model, f"model_{number}", run=("--end", str(20 * step)))
                self.open(page, "#paused&t=1", size=(640, 420))
                self.browser.run(
                    "for (const key of ['forces', 'reactions', 'torques', 'paths', 'marker-paths',"
                    " 'axes', 'joints', 'springs', 'shadows']) polhode.show(key, true)")
                self.browser.run("polhode.measure(3)")
                self.assertEqual(real_problems(self.browser), [])
                self.assertGreater(self.state()["drawCalls"], 1)


class Extremes(PageTest):
    """Results that are tiny, huge, far away, or without numbers."""

    def make(self, name, rows, size=1.0):
        """A page of two bodies: rows of time and two positions."""
        inertia = [0.4 * size * size, 0.5 * size * size, 0.2 * size * size]
        model = {"bodies": [{"name": body, "mass": 1, "inertia": inertia} for body in "ab"],
                 "gravity": [0, 0, -9.81], "simulation": {"step": 0.1, "end": 1}}
        pathlib.Path(name + ".json").write_text(json.dumps(model), encoding="ascii")
        names = ["t"] + [f"{body}.{what}" for body in "ab" for what in (
            "position.x", "position.y", "position.z", "quaternion.w", "quaternion.x",
            "quaternion.y", "quaternion.z")]
        lines = [",".join(names)]
        for time, first, second in rows:
            lines.append(",".join(map(str, [time, *first, 1, 0, 0, 0, *second, 1, 0, 0, 0])))
        pathlib.Path(name + ".csv").write_text("\n".join(lines) + "\n", encoding="ascii")
        polhode("view", name + ".csv", "--model", name + ".json", "--quiet")
        return name + ".html"

    def blue(self, page, settings="#paused&theme=light&hide=paths"):
        """The share of the view that the first body covers."""
        self.open(page, settings)
        return self.picture(page[:-5]).share(SCENE, is_blue)

    def test_one_frame(self):
        page = self.make("one_frame", [(0, (0, 0, 0), (3, 0, 0))])
        self.assertGreater(self.blue(page, "#theme=light"), 0.02)
        self.assertFalse(self.state()["playing"])
        self.browser.run("document.getElementById('play').click(); polhode.step(1)")
        self.assertEqual(self.state()["time"], 0)

    def test_nothing_moves(self):
        page = self.make("nothing_moves", [(i, (0, 0, 0), (3, 0, 0)) for i in range(9)])
        self.assertGreater(self.blue(page), 0.02)

    def test_bodies_without_numbers_are_not_drawn(self):
        gone = ("nan", "nan", "inf")
        page = self.make("no_numbers", [(i, gone if i > 4 else (0, 0, i / 4), (3, 0, 0))
                                        for i in range(9)])
        self.assertGreater(self.blue(page), 0.02)
        self.assertEqual(self.blue(page, "#paused&theme=light&hide=paths&t=6"), 0)
        self.browser.run("polhode.show('paths', true); polhode.show('axes', true); polhode.follow(0)")
        self.browser.run("polhode.measure(9)")
        self.assertTrue(all(math.isfinite(x) for x in self.state()["camera"]))
        everywhere = self.make("no_number_at_all", [(i, gone, gone) for i in range(9)])
        self.assertEqual(self.blue(everywhere), 0)

    def test_lost_bodies_do_not_hide_the_others(self):
        page = self.make("lost", [(i, (0, 0, 0), (1e300 * (i - 4), 0, 0)) for i in range(9)])
        self.assertGreater(self.blue(page), 0.02)

    def test_bodies_far_apart_are_dots(self):
        page = self.make("far_apart", [(i, (0, 0, i), (1e6, 0, 0)) for i in range(9)])
        self.open(page, "#paused&theme=light&hide=paths")
        share = self.picture("far_apart").share((0.02, 0.12, 0.68, 0.75), is_blue)
        self.assertGreater(share, 0)
        self.assertLess(share, 0.001)
        # whose names show near the mouse
        self.assertGreater(self.browser.run(
            "(() => { let hits = 0; for (let y = 2; y < 600; y += 4) for (let x = 2; x < 800; x += 4)"
            " hits += polhode.pick(x, y) === 0; return hits; })()"), 3)
        # and are seen as they are from near
        near = self.blue(page, "#paused&theme=light&hide=paths&follow=a")
        self.assertGreater(near, 0.02)

    def test_tiny_mechanisms_can_be_turned(self):
        page = self.make("tiny", [(i, (1e-6 * i, 0, 0), (0, 3e-6, 0)) for i in range(9)], 1e-6)
        self.assertGreater(self.blue(page), 0.005)
        before = self.browser.screenshot()
        self.browser.mouse("mousePressed", 300, 300, "left", 1, 1)
        self.browser.mouse("mouseMoved", 420, 300, "left", 1)
        self.browser.mouse("mouseReleased", 420, 300, "left", 0, 1)
        self.browser.run(FRAMES)
        after = self.browser.screenshot()
        changed = sum(a != b for a, b in zip(before.region(VIEW), after.region(VIEW)))
        self.assertGreater(changed, 1000)

    def test_places_far_from_the_origin_keep_their_digits(self):
        near = self.make("near", [(i, (i / 4, 0, 0), (0, 3, 0)) for i in range(9)])
        away = self.make("away", [(i, (5e6 + i / 4, -3e6, 0), (5e6, 3 - 3e6, 0)) for i in range(9)])
        self.assertAlmostEqual(self.blue(near), self.blue(away), delta=2e-3)
        self.assertAlmostEqual(self.state()["target"][0], 5e6 + 1, delta=2)

    def test_long_chains_can_be_seen(self):
        links = 300
        inertia = [1e-5, 1 / 12, 1 / 12]
        model = {"bodies": [{"name": f"link {i}", "mass": 1, "inertia": inertia,
                             "position": [i + 0.5, 0, 0]} for i in range(links)],
                 "simulation": {"step": 0.1, "end": 0.1}}
        pathlib.Path("links.json").write_text(json.dumps(model), encoding="ascii")
        page, _ = make_page("links.json", "links")
        self.open(page, "#paused&theme=light&hide=floor")
        self.browser.run(FRAMES)
        picture = self.browser.screenshot("links.png")
        columns = set()
        for y in range(100, 680):
            columns.update(x for x in range(40, 800) if sum(picture.pixel(x, y)) < 500)
        self.assertGreater(len(columns), 500)  # an unbroken line across the view


class Playing(PageTest):
    def test_play_moves_the_body(self):
        self.open()
        before = self.state()
        self.assertFalse(before["playing"])
        self.browser.run("document.getElementById('play').click()")
        self.browser.wait_for("polhode.state().time > 0.02")
        after = self.state()
        self.assertTrue(after["playing"])
        moved = math.dist(before["positions"], after["positions"])
        self.assertGreater(moved, 1e-3)
        self.browser.run("document.getElementById('play').click()")
        self.assertFalse(self.state()["playing"])

    def test_plays_by_itself_unless_motion_is_unwanted(self):
        self.open(settings="")
        self.browser.wait_for("polhode.state().time > 0")
        self.browser.emulate(prefers_reduced_motion="reduce")
        try:
            self.open(settings="")
            self.assertFalse(self.state()["playing"])
        finally:
            self.browser.emulate()

    def test_loop_and_end(self):
        self.open(settings="#paused&t=0.99")
        self.browser.run("polhode.setSpeed(1); polhode.play()")
        self.browser.wait_for("polhode.state().time < 0.9")  # started again
        self.assertTrue(self.state()["playing"])
        self.browser.run("document.getElementById('loop').click(); polhode.seek(0.99)")
        self.browser.wait_for("!polhode.state().playing")
        self.assertEqual(self.state()["time"], self.state()["duration"])

    def test_the_plot_can_be_clicked(self):
        self.open()
        box = self.browser.run("(({left, top, width, height}) => [left, top, width, height])"
                               "(document.getElementById('plot').getBoundingClientRect())")
        self.browser.click(box[0] + 52 + (box[2] - 60) / 2, box[1] + box[3] / 2)
        self.browser.wait_for("polhode.state().time > 0")
        self.assertAlmostEqual(self.state()["time"], 0.5, delta=0.02)

    def test_quantities_can_be_chosen_and_removed(self):
        self.open()
        self.browser.run("(() => { const list = document.getElementById('quantity');"
                         " list.value = 'energy.total'; list.dispatchEvent(new Event('change')); })()")
        self.assertIn("energy.total", self.state()["plotted"])
        self.browser.run("document.querySelector('#legend button').click()")
        self.assertNotIn("top.position.x", self.state()["plotted"])
        # the keyboard goes on from the next button of the list
        self.assertEqual(self.browser.run("document.activeElement.getAttribute('aria-label')"),
                         "Remove top.position.y from the plot")
        self.browser.run("document.getElementById('clear').click()")
        self.assertEqual(self.state()["plotted"], [])

    def test_follow_keeps_the_body_in_the_middle(self):
        self.open()
        self.browser.run("polhode.follow(0); polhode.seek(0.6)")
        self.browser.run(FRAMES)
        state = self.state()
        self.assertLess(math.dist(state["target"], state["positions"]), 1e-6)


class Keyboard(PageTest):
    def focus(self, name):
        self.browser.run(f"document.getElementById('{name}').focus()")

    def test_space_and_frames(self):
        self.open()
        self.focus("view")
        self.browser.key(" ", "Space", 32)
        self.browser.wait_for("polhode.state().playing && polhode.state().frame > 0")
        self.browser.key(" ", "Space", 32)
        self.browser.wait_for("!polhode.state().playing")
        frame = self.state()["frame"]
        self.browser.key(".", "Period", 190)
        self.assertEqual(self.state()["frame"], frame + 1)
        self.browser.key(",", "Comma", 188)
        self.browser.key(",", "Comma", 188)
        self.assertEqual(self.state()["frame"], frame - 1)
        self.browser.key("Home", "Home", 36)
        self.assertEqual(self.state()["frame"], 0)
        self.browser.key("End", "End", 35)
        self.assertEqual(self.state()["frame"], 1000)

    def test_arrows_turn_the_view_and_move_the_slider(self):
        self.open()
        self.focus("view")
        before = self.state()
        self.browser.key("ArrowLeft", "ArrowLeft", 37)
        self.browser.key("ArrowUp", "ArrowUp", 38)
        after = self.state()
        arms = [[p - t for p, t in zip(s["camera"], s["target"])] for s in (before, after)]
        self.assertGreater(math.dist(*arms), 0.1)
        self.assertAlmostEqual(math.hypot(*arms[0]), math.hypot(*arms[1]), delta=1e-6)
        self.assertEqual(before["frame"], after["frame"])
        self.browser.key("r", "KeyR", 82)
        self.assertLess(math.dist(self.state()["camera"], before["camera"]), 1e-9)
        self.focus("scrub")
        for _ in range(3):
            self.browser.key("ArrowRight", "ArrowRight", 39)
        self.assertEqual(self.state()["frame"], 3)
        self.focus("plot")
        self.browser.key("ArrowRight", "ArrowRight", 39)
        self.assertEqual(self.state()["frame"], 4)

    def test_letters(self):
        self.open()
        self.focus("view")
        dark = self.state()["dark"]
        self.browser.key("d", "KeyD", 68)
        self.assertEqual(self.state()["dark"], not dark)
        speed = self.state()["speed"]
        self.browser.key("]", "BracketRight", 221)
        self.assertGreater(self.state()["speed"], speed)
        self.browser.key("l", "KeyL", 76)
        self.assertFalse(self.state()["loop"])
        self.browser.key("?", "Slash", 191)
        self.assertTrue(self.browser.run("document.getElementById('help').open"))

    def test_tab_reaches_everything_and_everything_has_a_name(self):
        self.open()
        seen = []
        for _ in range(80):
            self.browser.key("Tab", "Tab", 9)
            seen.append(self.browser.run("document.activeElement.id || document.activeElement.tagName"))
        for name in ("view", "theme", "quantity", "plot", "show-joints", "follow", "reset", "play",
                     "scrub", "speed", "loop"):
            self.assertIn(name, seen)
        self.focus("play")
        self.browser.key("Tab", "Tab", 9)
        self.assertTrue(self.browser.run("getComputedStyle(document.activeElement).outlineStyle !== 'none'"))
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        nameless = [node["role"]["value"] for node in nodes
                    if any(p["name"] == "focusable" and p["value"].get("value")
                           for p in node.get("properties", []))
                    and not node.get("name", {}).get("value")
                    and node["role"]["value"] != "RootWebArea"]
        self.assertEqual(nameless, [])


class Looking(PageTest):
    def test_the_top_is_seen_where_it_is(self):
        self.open(settings="#paused&t=0.3&theme=light&hide=paths")
        picture = self.picture("light")
        share = picture.share(VIEW, is_blue)
        # the disc covers 1.5 % of the view, whoever draws it
        self.assertGreater(share, 0.006)
        self.assertLess(share, 0.04)
        # low and to the right of the middle, by the picture looked at when this was written
        left = picture.share((0.02, 0.1, 0.35, 0.9), is_blue)
        right = picture.share((0.35, 0.5, 0.68, 0.9), is_blue)
        self.assertGreater(right, 10 * left)
        self.assertGreater(min(picture.mean((0.05, 0.1, 0.3, 0.25))), 225)  # a light background
        self.browser.run("polhode.show('shapes', false); polhode.show('shadows', false)")
        self.assertLess(self.picture("bare").share(VIEW, is_blue), 0.001)

    def test_dark_follows_the_system(self):
        self.browser.emulate(prefers_color_scheme="dark")
        try:
            self.open(settings="#paused&t=0.3")
            self.assertTrue(self.state()["dark"])
            picture = self.picture("dark")
            self.assertLess(max(picture.mean((0.05, 0.1, 0.3, 0.25))), 60)
            self.assertGreater(picture.share(VIEW, is_blue), 0.006)
        finally:
            self.browser.emulate()

    def test_the_name_shows_under_the_mouse(self):
        self.open(settings="#paused&t=0.3")
        spot = self.browser.run(
            "(() => { const {left, top, width, height} = document.getElementById('view').getBoundingClientRect();"
            " for (let y = 4; y < height; y += 4) for (let x = 4; x < width; x += 4)"
            " if (polhode.pick(x, y) === 0 && polhode.pick(x + 8, y + 8) === 0) return [left + x + 6, top + y + 6];"
            " return null; })()")
        self.assertIsNotNone(spot)
        self.browser.mouse("mouseMoved", *spot)
        self.browser.wait_for("!document.getElementById('tip').hidden")
        self.assertEqual(self.browser.run("document.getElementById('tip').textContent"), "top")
        self.browser.mouse("mouseMoved", 60, 120)
        self.browser.wait_for("document.getElementById('tip').hidden")

    def test_a_screenshot_without_waiting_shows_the_top(self):
        flags = [flag for flag in FLAGS if flag != "--remote-debugging-pipe"]
        with tempfile.TemporaryDirectory() as profile:
            subprocess.run([find_browser(), *flags, f"--user-data-dir={profile}", "--screenshot=plain.png",
                            "--window-size=1200,760", f"file://{os.path.abspath(self.page)}#paused&theme=light"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
        picture = Picture(pathlib.Path("plain.png").read_bytes())
        self.assertGreater(picture.share(VIEW, is_blue), 0.006)

    def test_the_floor_is_redrawn_with_the_view_only(self):
        self.open(settings="#paused&hide=shapes,shadows,paths,joints&theme=light")
        floor = self.picture("floor")
        self.browser.run("polhode.seek(0.5)")
        self.assertEqual(self.picture("floor_later").mean(VIEW), floor.mean(VIEW))
        self.browser.run("document.getElementById('view').focus()")
        self.browser.key("ArrowLeft", "ArrowLeft", 37)
        turned = self.picture("floor_turned")
        self.assertGreater(sum(a != b for a, b in zip(floor.region(VIEW), turned.region(VIEW))), 1000)
        self.browser.run("polhode.show('floor', false)")
        self.assertGreater(min(self.picture("no_floor").mean(VIEW)), min(floor.mean(VIEW)))

    def test_narrow_windows(self):
        self.open(size=(390, 800))
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 390)
        width = self.browser.run("document.getElementById('view').getBoundingClientRect().width")
        self.assertGreater(width, 350)
        self.assertTrue(self.browser.run(
            "(({top, bottom}) => top >= 0 && bottom <= innerHeight)"
            "(document.getElementById('play').getBoundingClientRect())"))

    def test_meshes_are_drawn(self):
        corners = [(0, 0, 0), (1000, 0, 0), (0, 1000, 0), (0, 0, 1000)]
        faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
        with open("part.stl", "wb") as file:
            file.write(b"solid but binary".ljust(80) + struct.pack("<I", len(faces)))
            for face in faces:
                file.write(struct.pack("<3f", 0, 0, 0))
                for corner in face:
                    file.write(struct.pack("<3f", *corners[corner]))
                file.write(b"\0\0")
        lines = ["v %g %g %g" % c for c in corners] + ["f %d/1 %d/2 %d/3" % tuple(i + 1 for i in f)
                                                       for f in faces]
        pathlib.Path("part.obj").write_text("\n".join(lines) + "\n", encoding="ascii")
        for name in ("part.stl", "part.obj"):
            model = {"bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1], "shapes": [
                {"type": "mesh", "file": name, "scale": 0.001, "color": "#0072b2"}]}],
                "simulation": {"step": 0.1, "end": 1}}
            pathlib.Path("mesh.json").write_text(json.dumps(model), encoding="ascii")
            page, _ = make_page("mesh.json", "mesh")
            self.open(page, "#paused&theme=light")
            self.assertGreater(self.picture("mesh_" + name[-3:]).share(VIEW, is_blue), 0.02)


class Command(unittest.TestCase):
    """polhode view itself."""

    @classmethod
    def setUpClass(cls):
        cls.model = Context.source / "models/examples/pendulum.json"
        polhode("run", cls.model, "--out", "pendulum.csv", "--quiet")

    def test_summary(self):
        out, _ = polhode("view", "pendulum.csv", "--model", self.model, "--json", "--frames", 7)
        summary = json.loads(out)
        self.assertEqual(summary["status"], "done")
        self.assertEqual(summary["page"], "pendulum.html")
        self.assertEqual(summary["frames"], 7)
        self.assertEqual(summary["bytes"], os.path.getsize("pendulum.html"))

    def test_hdf5_results_hold_their_model(self):
        polhode("run", self.model, "--out", "own.h5", "--quiet", "--set", "name=Own")
        polhode("view", "own.h5", "--quiet")
        page = pathlib.Path("own.html").read_text(encoding="utf-8")
        self.assertIn('"name":"Own"', page)

    def test_wrong_input(self):
        other = Context.source / "models/bruels-cardona-2010/heavy_top.json"
        for words, message in (
                (("no.csv",), "no.csv"),
                (("pendulum.csv",), "--model: must be given"),
                (("pendulum.csv", "--model", "no.json"), "no.json: cannot be read"),
                (("pendulum.csv", "--model", other), "top.position.x"),
                (("pendulum.csv", "--model", self.model, "--frames", 1), "--frames"),
                (("pendulum.csv", "--model", self.model, "--out", "x.png"), "ends in .html"),
                (("pendulum.csv", "--model", self.model, "--out", "none/x.html"), "--out"),
                ((self.model,), "pendulum.json")):
            _, errors = polhode("view", *words, status=2)
            self.assertIn(message, errors)

    def test_wrong_meshes(self):
        pathlib.Path("empty.obj").write_text("v 0 0 0\n", encoding="ascii")
        pathlib.Path("broken.obj").write_text("v 0 0 0\nf 1 2 3\n", encoding="ascii")
        pathlib.Path("text.stl").write_text("vertex 1 2\n", encoding="ascii")
        page = pathlib.Path("bad_mesh.html")
        page.write_text("an older page", encoding="ascii")
        for name, message in (("missing.stl", "bad_mesh.csv: the mesh file missing.stl cannot be "
                                              "read: No such file or directory"),
                              ("empty.obj", "no triangles"), ("broken.obj", "line 2: a face has"),
                              ("text.stl", "no triangles")):
            model = {"bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1],
                                 "shapes": [{"type": "mesh", "file": name}]}],
                     "simulation": {"step": 0.1, "end": 1}}
            pathlib.Path("bad_mesh.json").write_text(json.dumps(model), encoding="ascii")
            polhode("run", "bad_mesh.json", "--out", "bad_mesh.csv", "--quiet")
            _, errors = polhode("view", "bad_mesh.csv", "--model", "bad_mesh.json", status=2)
            self.assertIn(message, errors)
            self.assertEqual(page.read_text(encoding="ascii"), "an older page")


if __name__ == "__main__":
    run_tests()
