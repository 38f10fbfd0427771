#!/usr/bin/env python3
"""What the viewer's page shows without being asked, and what it passes on: titles, the first plot, mechanisms that
travel, the address of a view, two runs side by side, names, videos.  In a headless Chromium.

    test_showing.py POLHODE SOURCE_DIR
"""
import base64
import json
import pathlib
import struct

from page_case import Context, PageTest, make_page, polhode, run_tests


def model_file(name):
    return Context.source / f"models/{name}.json"


def page_of(name, *run):
    """The page of a model; made once."""
    page = pathlib.Path(pathlib.Path(name).name + ".html")
    if not page.exists():
        make_page(model_file(name), page.stem, run=run)
    return page


class Titles(PageTest):
    def title(self, page):
        self.open(page)
        title = self.browser.run("document.getElementById('title').textContent")
        self.assertEqual(self.browser.run("document.title").split(" \u2013 "), [title, "polhode"])
        return title

    def test_a_mode_has_its_number_and_frequency(self):
        polhode("modes", model_file("examples/double_pendulum"), "--static", "--mode", "2", "--out", "m2.h5", "--quiet")
        polhode("view", "m2.h5", "--quiet")
        self.assertEqual(self.title("m2.html"), "Double pendulum, mode 2, 1.144 Hz")

    def test_a_model_without_a_name_has_that_of_its_result(self):
        model = json.loads(model_file("examples/pendulum").read_text(encoding="utf-8"))
        del model["name"]
        model["$schema"] = ""
        pathlib.Path("nameless.json").write_text(json.dumps(model), encoding="utf-8")
        self.assertEqual(self.title(make_page("nameless.json", "swing")[0]), "Swing")


class FirstPlot(PageTest):
    def plotted(self, page):
        self.open(page)
        return self.state()["plotted"]

    def test_bodies_that_turn_on_the_spot_have_their_angular_velocity(self):
        self.assertEqual(self.plotted(page_of("examples/dzhanibekov_nut")), [f"nut.angular_velocity.{c}" for c in "xyz"])

    def test_bodies_that_swing_have_their_position_without_what_stays(self):
        self.assertEqual(self.plotted(page_of("examples/double_pendulum")), ["lower.position.x", "lower.position.z"])

    def test_modes_are_no_flat_lines(self):
        polhode("modes", model_file("examples/suspension"), "--static", "--mode", "1", "--out", "m1.h5", "--quiet")
        polhode("view", "m1.h5", "--quiet")
        self.assertEqual(self.plotted("m1.html"), ["hub.angle"])  # the wheel turns, and nothing else moves



class Equilibria(PageTest):
    """Their rows follow the load factor or the length of a path, not time."""

    def shown(self, *options):
        """The name of the axis and the time on the page."""
        polhode("static", model_file("beams/lee_frame"), *options, "--out", "eq.h5", "--quiet")
        polhode("view", "eq.h5", "--quiet")
        self.open("eq.html")
        name = self.browser.run("JSON.parse(document.getElementById('scene').textContent).axis.name")
        return name, self.browser.run("document.getElementById('time').value")

    def test_load_steps_have_the_load_factor(self):
        name, time = self.shown("--steps", "4", "--param", "P=1")
        self.assertEqual(name, "load factor")
        self.assertTrue(time.endswith(" / 1.000"), time)

    def test_paths_have_their_length(self):
        name, time = self.shown("--arc-length")
        self.assertEqual(name, "length of the path")
        self.assertNotIn("s", time)


class Traveling(PageTest):
    def test_the_view_goes_along_with_a_bicycle(self):
        self.open(page_of("meijaard-2007/bicycle", "--end", "3"))
        first = self.state()
        self.assertEqual(first["followed"], 1)  # the frame, the heaviest
        self.browser.run("polhode.seek(3)")
        self.browser.wait_for("polhode.state().still")
        last = self.state()
        moved = last["camera"][0] - first["camera"][0]
        self.assertAlmostEqual(moved, 15, delta=0.01)  # 5 m/s for 3 s
        self.assertLess(max(abs(a - b) for a, b in zip(first["camera"], first["target"])), 10)

    def test_what_stays_in_place_is_not_followed(self):
        self.open(page_of("examples/double_pendulum"))
        self.assertEqual(self.state()["followed"], -1)


class Links(PageTest):
    def test_the_address_brings_the_view_back(self):
        self.open(page_of("examples/double_pendulum"), "#paused&t=0.7&theme=dark&show=labels&hide=floor&opacity=0.5&turn=30,-10&zoom=1.5&plot=energy.total")
        address, before = self.browser.run("polhode.address()"), self.state()
        self.open(page_of("examples/double_pendulum"), address)
        after = self.state()
        self.assertEqual(after["notice"], "")
        for key in ("dark", "shown", "opacity", "plotted", "speed", "parallel", "followed"):
            self.assertEqual(after[key], before[key], key)
        for key in ("camera", "target", "time"):
            for a, b in zip(*(x if isinstance(x, list) else [x] for x in (after[key], before[key]))):
                self.assertAlmostEqual(a, b, delta=2e-5)

    def test_wrong_cameras_are_named(self):
        self.open(settings="#paused&camera=1,2,3&pixels=9")
        for words in ("camera=1,2,3: must be six numbers", "pixels=9: must be from 0.25 to 4"):
            self.assertIn(words, self.state()["notice"])


class Comparing(PageTest):
    def test_the_other_run_is_drawn_and_plotted(self):
        model = model_file("examples/double_pendulum")
        polhode("run", model, "--out", "one.h5", "--quiet", "--end", "0.5")
        polhode("run", model, "--out", "two.h5", "--quiet", "--end", "0.4", "--step", "0.002", "--set", "gravity=[0,0,-5]")
        polhode("view", "one.h5", "--compare", "two.h5", "--quiet")
        self.open("one.html", "#paused&t=0.3")
        self.assertIn("compared", self.state()["shown"])
        self.assertEqual(sum(count for _, count in self.browser.run("polhode.drawn('compared')")), 10)  # rods and balls
        self.assertIn("compared.lower.position.z", self.state()["plotted"])
        self.assertIn("pale: two", self.browser.run("document.getElementById('note').textContent"))
        # a free fall from rest: the ratio of the falls is that of the accelerations
        at = self.browser.run("['', 'compared.'].map(of => polhode.valueAt(of + 'lower.position.z', 0.1))")
        self.assertAlmostEqual(at[1] / at[0], 5 / 9.81, delta=0.01)
        self.assertIsNone(self.browser.run("polhode.valueAt('compared.lower.position.z', 0.45)"))  # it has ended

    def test_wrong_input(self):
        for arguments, words in ((("--compare", "none.h5"), "none.h5"), (("--compare", "heavy_top.csv"), "heavy_top.csv: it has no channel"),
                                 (("--compare", "one_short.h5", "--out", "x.glb"), "is for pages")):
            polhode("run", model_file("examples/double_pendulum"), "--out", "one_short.h5", "--quiet", "--end", "0.1")
            self.assertIn(words, polhode("view", "one_short.h5", *arguments, status=2)[1])


class Names(PageTest):
    def test_no_name_covers_another(self):
        self.open(page_of("examples/hexapod", "--end", "0.2"), "#paused&show=labels")
        self.browser.wait_for("polhode.state().still")
        boxes = self.browser.run("polhode.labels()")
        self.assertGreaterEqual(len(boxes), 20)
        for i, (left, top, right, bottom) in enumerate(boxes):
            for l, t, r, b in boxes[:i]:
                self.assertFalse(left < r and l < right and top < b and t < bottom)


class Videos(PageTest):
    def elements(self, data, inside):
        """The elements of a Matroska file, depth first: (identifier, bytes)."""
        at = 0
        while at < len(data):
            length = 9 - data[at].bit_length()
            name = data[at:at + length].hex()
            wide = 9 - data[at + length].bit_length()
            size = int.from_bytes(data[at + length:at + length + wide], "big") & ((1 << 7 * wide) - 1)
            at += length + wide
            yield name, data[at:at + size]
            if name in inside:
                yield from self.elements(data[at:at + size], inside)
            at += size

    def test_each_picture_has_its_time_however_long_it_takes(self):
        self.open(settings="#paused&theme=light&speed=0.5", size=(600, 400))
        video = base64.b64decode(self.browser.run("polhode.save('webm', 1)"))
        pathlib.Path("saved.webm").write_bytes(video)
        parts = list(self.elements(video, ("18538067", "1549a966", "1654ae6b", "ae", "e0", "1f43b675", "1c53bb6b")))
        values = dict(parts)
        self.assertEqual(values["4489"], struct.pack(">d", 967 + 1000 / 30))  # a second
        self.assertIn(values["86"], (b"V_VP9", b"V_VP8"))
        blocks = [data for name, data in parts if name == "a3"]
        self.assertEqual([struct.unpack(">h", block[1:3])[0] for block in blocks], [round(1000 * i / 30) for i in range(30)])
        size = self.browser.run("[document.getElementById('view').width & ~1, document.getElementById('view').height & ~1]")
        self.assertEqual([int.from_bytes(values[name], "big") for name in ("b0", "ba")], size)
        self.assertEqual(sum(1 for name, _ in parts if name == "bb"), 1)  # a cue for the one key picture
        self.assertGreater(len(video), 3000)
        self.assertFalse(self.state()["playing"])


if __name__ == "__main__":
    run_tests()
