#!/usr/bin/env python3
"""What the viewer's page draws and saves, in a headless Chromium: parts of joints and springs, gears, light,
views, arrows, the polhode, very many bodies, pictures and glTF files.

    test_features.py POLHODE SOURCE_DIR
"""
import base64
import csv
import json
import math
import pathlib
import struct
import unittest

from browser import Picture
from measure import write_model, write_result
from page_case import FRAMES, VIEW, Context, PageTest, make_page, polhode, run_tests


def example(name):
    return Context.source / f"models/examples/{name}.json"


def page_of(name, **changes):
    """The page of an example, short ones of long runs; made once."""
    page = pathlib.Path(f"example_{name}.html")
    if not page.exists():
        make_page(example(name), f"example_{name}", run=[word for key, value in changes.items()
                                                        for word in ("--" + key, str(value))])
    return page


def one_body(name, body, **more):
    """The page of a model with one body that stays where it is."""
    model = {"bodies": [{"name": "a", "mass": 1, "inertia": [0.1, 0.1, 0.1], **body}],
             "simulation": {"step": 0.1, "end": 0.2}, **more}
    pathlib.Path(name + ".json").write_text(json.dumps(model), encoding="ascii")
    return make_page(name + ".json", name)[0]


class Plots(PageTest):
    def test_numbers_of_an_axis(self):
        self.open(settings="#paused")
        for low, high in ((0, 1.5), (0.185, 0.29), (-1, 1), (0, 22), (9990, 10010), (-3e-7, 5e-7), (0, 2.2e6)):
            for count in (2, 3, 5, 8):
                texts = self.browser.run(f"polhode.tickTexts({low}, {high}, {count})")
                self.assertIn(len(texts), range(1, int(1.6 * count) + 2))
                self.assertEqual(len(set(texts)), len(texts))
                if not any("e" in text for text in texts):  # no 0.2 beside 0.22
                    self.assertEqual(len({len(text.partition(".")[2]) for text in texts}), 1, texts)

    def test_numbers_do_not_cover_the_unit(self):
        # numbers of five digits: 1.5e4 m/s
        page = one_body("fast", {"velocity": [15000, 0, 0]})
        self.open(page, settings="#paused&plot=a.velocity.x")
        numbers, curves = self.browser.run("polhode.plotMargins()")
        self.assertGreaterEqual(numbers, 15)  # the unit is written upwards around pixel 8
        self.assertGreater(curves, numbers + 20)


class Address(PageTest):
    def test_bodies_can_be_hidden_by_either_name(self):
        for name in ("bodies", "shapes"):
            self.open(settings=f"#paused&hide={name}")
            self.assertNotIn("bodies", self.state()["shown"])
            self.assertEqual(self.state()["notice"], "")

    def test_what_is_not_understood_is_shown(self):
        self.open(settings="#paused&hide=wheels,floor&colour=red&speed=-1&follow=nobody&t=x&view=side&plot=energy.none")
        notice = self.state()["notice"]
        for words in ("colour: unknown, one of panel, t, ", "hide=wheels,floor: wheels is none of bodies, joints",
                      "speed=-1: must be above 0", "follow=nobody: no body has the name nobody",
                      "t=x: must be a time", "view=side: must be one of home", "no such quantity: energy.none"):
            self.assertIn(words, notice)
        self.assertNotIn("floor", self.state()["shown"])  # what is known is done
        self.browser.run("document.getElementById('notice-close').click()")
        self.assertEqual(self.state()["notice"], "")

    def test_start_values(self):
        self.open(settings="#paused&view=top&parallel&opacity=0.5&speed=0.25&panel=0")
        state = self.state()
        self.assertTrue(state["parallel"])
        self.assertEqual((state["opacity"], state["speed"]), (0.5, 0.25))
        self.assertEqual(self.browser.run("document.getElementById('side').getBoundingClientRect().width"), 0)


class Parts(PageTest):
    def drawn(self, page, layer, settings="#paused"):
        self.open(page, settings)
        parts = {}
        for name, count in self.browser.run(f"polhode.drawn('{layer}')"):
            parts[name] = parts.get(name, 0) + count
        return parts

    def test_bodies_without_shapes_are_rods_to_their_joints(self):
        self.assertEqual(self.drawn(page_of("double_pendulum"), "bodies"), {"rod": 4, "ball": 6})
        self.assertEqual(self.drawn(page_of("double_pendulum"), "joints"), {"pin": 2, "eye": 3, "cheek": 2})

    def test_slides_have_rails_and_their_springs_are_coils(self):
        page = page_of("governor", end=0.3)
        self.assertIn("rail", self.drawn(page, "joints"))
        springs = self.drawn(page, "springs")
        self.assertEqual(springs, {"coil": 1, "damper": 1, "piston": 1})

    def test_a_spring_without_stiffness_is_not_drawn(self):
        model = json.loads(example("governor").read_text(encoding="utf-8"))
        model["forces"][0].update(stiffness=0, damping=0)
        pathlib.Path("loose.json").write_text(json.dumps(model), encoding="utf-8")
        page, _ = make_page("loose.json", "loose", run=("--end", "0.05"))
        self.assertEqual(self.drawn(page, "springs"), {})
        model["forces"][0]["damping"] = 30
        pathlib.Path("loose.json").write_text(json.dumps(model), encoding="utf-8")
        page, _ = make_page("loose.json", "loose", run=("--end", "0.05"))
        self.assertEqual(self.drawn(page, "springs"), {"damper": 1, "piston": 1})

    def test_gears_have_teeth_that_mesh(self):
        self.assertEqual(self.drawn(page_of("planetary_gear", end=0.5), "bodies")["gear"], 3)
        self.assertEqual(sorted(self.state()["gears"]), [15, 20, 50])
        wheels = self.browser.run("polhode.gears()")
        by_teeth = {wheel["teeth"]: wheel for wheel in wheels}
        for teeth, radius in ((20, 0.03), (15, 0.0225), (50, 0.075)):
            self.assertAlmostEqual(by_teeth[teeth]["radius"], radius, delta=1e-9)
        # where two wheels meet, a tooth of one is in a gap of the other, at all times
        for t in (0, 0.1, 0.33, 0.5):
            self.browser.run(f"polhode.seek({t})")
            self.browser.run(FRAMES)
            now = {wheel["teeth"]: wheel for wheel in self.browser.run("polhode.gears()")}
            for a, b, inside in ((20, 15, False), (50, 15, True)):
                dx, dy = (now[b]["center"][c] - now[a]["center"][c] for c in range(2))
                toward = math.atan2(dy, dx)
                # distance along the pitch circle from the meeting point to a tooth, in pitches
                at = (now[a]["tooth"] - toward) * a / (2 * math.pi)
                other = (now[b]["tooth"] - toward - (0 if inside else math.pi)) * b / (2 * math.pi)
                phase = (at - other if inside else at + other) % 1
                self.assertAlmostEqual(phase, 0.5, delta=0.03)

    def test_thin_shapes_are_no_hairlines(self):
        self.open(page_of("chain_20"), "#paused&theme=light&hide=floor,joints,shadows,paths")
        picture = self.picture("chain")
        self.browser.run("polhode.show('bodies', false)")
        empty = self.picture("no_chain")

        def covered(x):
            return sum(max(abs(a - b) for a, b in zip(picture.pixel(x, y), empty.pixel(x, y))) > 20
                       for y in range(100, 690))
        heights = [n for n in map(covered, range(10, 815)) if n > 0]
        self.assertGreater(len(heights), 300)
        self.assertGreaterEqual(sorted(heights)[len(heights) // 50], 4)


class Beams(PageTest):
    """A cantilever that a moment rolls up; colours and enlarged deformations."""

    def beam_page(self):
        page = pathlib.Path("beam.html")
        if not page.exists():
            make_page(Context.source / "models/beams/rolled_cantilever.json", "beam")
        return page

    def middle_line(self, settings):
        self.open(self.beam_page(), "#paused&hide=floor&" + settings)
        self.browser.run(FRAMES)
        return self.browser.run("polhode.beam(0)")

    def test_a_beam_is_one_curve(self):
        points = self.middle_line("t=5")["points"][:-2]  # without the caps
        self.assertEqual(self.browser.run("polhode.drawn('bodies')").count(["beam", 1]), 1)
        # the circle that the moment closes: radius 1/(2 pi)
        center = [sum(p[c] for p in points) / len(points) for c in range(3)]
        radii = [math.dist(p, center) for p in points]
        for radius in radii:
            self.assertAlmostEqual(radius, 1 / (2 * math.pi), delta=4e-3)
        steps = [math.dist(a, b) for a, b in zip(points, points[1:])]
        self.assertLess(max(steps), 0.05)

    def test_colours_follow_a_quantity(self):
        plain = self.middle_line("t=2.5")["colors"]
        self.assertTrue(all(math.dist(c, plain[0]) < 1e-6 for c in plain))
        moved = self.middle_line("t=2.5&color=displacement")["colors"]
        self.assertGreater(math.dist(moved[0], moved[-3]), 0.2)
        self.assertIn("displacement, m", self.browser.run("document.getElementById('ramp').textContent"))
        self.assertIn("bending moment", self.browser.run(
            "polhode.colorElastic('bending moment'); document.getElementById('ramp').textContent"))
        high = float(self.browser.run("document.getElementById('ramp-high').textContent"))
        with open("beam.csv", newline="", encoding="utf-8") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            largest = max(abs(float(row["beam_0_1.torque_local.z"])) for row in rows)
        self.assertAlmostEqual(high, largest, delta=0.1 * largest)
        self.assertEqual(self.state()["elasticColor"], "bending moment")

    def test_deformations_are_enlarged(self):
        once, five = (self.middle_line(f"t=0.3&deformation={scale}")["points"][-3] for scale in (1, 5))
        self.assertGreater(once[1], 1e-3)
        self.assertAlmostEqual(five[1], 5 * once[1], delta=0.01 * five[1])
        self.open(self.beam_page(), "#paused&color=red&deformation=0")
        notice = self.state()["notice"]
        self.assertIn("color=red: must be one of displacement, axial strain", notice)
        self.assertIn("deformation=0: must be from 1 to 1000", notice)


class Flexible(PageTest):
    """A plate clamped at one edge, from a mesh and from files: its surface and its nodes, moved by the modes."""

    SIZE = (0.4, 0.3, 0.005)

    def plate_page(self, kind):
        page = pathlib.Path(f"plate_{kind}.html")
        if not page.exists():
            source = {"mesh": {"type": "plate", "size": self.SIZE, "divisions": [8, 6],
                               "material": {"young": 7e10, "poisson": 0.3, "density": 2700}}}
            if kind == "files":
                polhode("mesh", "plate", "--size", "0.4,0.3,0.005", "--elements", "8,6", "--young", "7e10",
                        "--poisson", "0.3", "--density", "2700", "--out", "plate")
                source = {"mass_matrix": "plate_mass.mtx", "stiffness_matrix": "plate_stiffness.mtx",
                          "nodes": "plate_nodes.csv"}
            body = {"name": "plate", **source, "modes": 4,
                    "interfaces": [{"name": "edge", "box": [[0, -1, -1], [0, 1, 1]]}]}
            model = {"flexible_bodies": [body], "gravity": [0, 0, -9.81], "simulation": {"step": 1e-3, "end": 0.05},
                     "joints": [{"name": "clamp", "type": "fixed", "bodies": ["ground", "plate.edge"],
                                 "point": [0, 0, 0]}]}
            pathlib.Path("plate.json").write_text(json.dumps(model), encoding="ascii")
            result = f"plate_{kind}.h5"
            polhode("run", "plate.json", "--out", result, "--quiet")
            for file in pathlib.Path().glob("plate_*.mtx"):  # a result is enough
                file.unlink()
            polhode("view", result, "--out", page, "--quiet")
        return page

    def drawn(self, settings, kind="mesh"):
        self.open(self.plate_page(kind), "#paused&hide=floor&" + settings)
        self.browser.run(FRAMES)
        return self.browser.run("polhode.flexible(0)")

    def test_the_surface_follows_the_modes(self):
        relaxed, bent, five = (self.drawn(f"t={t}&deformation={f}") for t, f in ((0, 1), (0.02, 1), (0.02, 5)))
        self.assertEqual(self.browser.run("polhode.drawn('bodies')"), [["flexible", 1]])  # nothing for the interface
        self.assertEqual(len(relaxed["points"]), 2 * (9 * 7 + 9 * 2 + 7 * 2))
        for c in range(3):  # about the centre of mass
            values = [p[c] for p in relaxed["points"]]
            self.assertAlmostEqual(min(values), -0.5 * self.SIZE[c], delta=1e-6)
            self.assertAlmostEqual(max(values), 0.5 * self.SIZE[c], delta=1e-6)
        for point, normal in zip(relaxed["points"], relaxed["normals"]):  # outwards, edges sharp
            self.assertAlmostEqual(max(map(abs, normal)), 1, delta=1e-5)
            self.assertGreater(sum(a * b for a, b in zip(point, normal)), 0)
        far = max(range(len(relaxed["points"])), key=lambda i: math.dist(bent["points"][i], relaxed["points"][i]))
        once, times = (math.dist(one["points"][far], relaxed["points"][far]) for one in (bent, five))
        self.assertGreater(once, 2e-5)
        self.assertAlmostEqual(times, 5 * once, delta=0.01 * times)

    def test_the_surface_goes_through_the_interface(self):
        """The mean of the clamped edge is the interface, which stays at the origin, as far as the quaternions of the
        page (1.5e-5 each) tell; without the modes it would not be there."""
        def edge_at(points):
            edge = [p for p in points if p[0] < -0.4999 * self.SIZE[0]]
            mean = [sum(p[c] for p in edge) / len(edge) for c in range(3)]
            turn = [2 * c for c in cross(v, mean)]
            return math.hypot(*(m + w * a + b + o for m, a, b, o in zip(mean, turn, cross(v, turn), place)))

        def cross(a, b):
            return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

        relaxed, bent = (self.drawn(f"t={t}")["points"] for t in (0, 0.02))
        place, (w, *v) = self.state()["positions"][:3], self.state()["quaternions"][:4]
        self.assertLess(edge_at(bent), 8e-6)
        self.assertGreater(edge_at(relaxed), 5e-5)

    def test_colours_show_deformations(self):
        plain = self.drawn("t=0.02")["colors"]
        self.assertTrue(all(math.dist(c, plain[0]) < 1e-6 for c in plain))
        colors = self.drawn("t=0.02&color=deformation")["colors"]
        self.assertGreater(max(math.dist(c, colors[0]) for c in colors), 0.1)
        self.assertIn("deformation, m", self.browser.run("document.getElementById('ramp').textContent"))
        self.browser.run("polhode.show('ghosts', true)")
        self.browser.run(FRAMES)
        self.assertIn(["flexible", 1], self.browser.run("polhode.drawn('ghosts')"))

    def test_nodes_of_files_are_drawn_without_the_files(self):
        self.drawn("t=0.02&color=deformation", "files")
        self.assertEqual(self.browser.run("polhode.drawn('bodies')"), [["flexible", 9 * 7 * 2]])
        self.assertEqual(self.browser.run(f"polhode.pick({0.35 * 1200}, {0.5 * 760})"), 0)


class Light(PageTest):
    def test_colours_do_not_clip(self):
        page = one_body("orange", {"shapes": [{"type": "box", "size": [1, 1, 1], "color": "#e69f00"}]})
        self.open(page, "#paused&theme=light&hide=paths,floor,shadows")
        picture = self.picture("orange")
        body = [p for p in picture.region(VIEW) if p[0] > p[2] + 60]
        self.assertGreater(len(body), 5000)
        self.assertLess(max(p[0] for p in body), 252)
        # the tone stays: as much green beside red as the colour has, up to reflections
        bright = [p for p in body if p[0] > 150]
        self.assertAlmostEqual(sum(p[1] / p[0] for p in bright) / len(bright), 0x9f / 0xe6, delta=0.08)

    def test_hidden_bodies_throw_no_shadow(self):
        self.open(settings="#paused&t=0.3&theme=light&hide=bodies,joints,paths")
        with_shadows = self.picture("no_body")
        self.browser.run("polhode.show('shadows', false)")
        without = self.picture("no_body_no_shadow")
        different = sum(max(abs(x - y) for x, y in zip(a, b)) > 2
                        for a, b in zip(with_shadows.region(VIEW), without.region(VIEW)))
        self.assertLess(different, 20)
        self.browser.run("polhode.show('shadows', true); polhode.show('bodies', true)")
        shown = self.picture("body")
        dark = sum(sum(b) - sum(a) > 40 for a, b in zip(shown.region(VIEW), without.region(VIEW)))
        self.assertGreater(dark, 500)

    def test_thin_shadows_have_no_speckles(self):
        # the shadow of a thin plate beside its rim: no pixel that differs from all four beside it
        page = one_body("plate", {"position": [0, 0, 0.2], "shapes": [{"type": "sphere", "radius": 0.1}]},
                        shapes=[{"type": "box", "size": [2.2, 1.1, 0.02], "position": [0.5, 0, -0.01]}])
        for camera in ("2.5,-0.6,0.8,1.2,0,0", "2,0.8,0.8,1.2,0.4,0"):
            self.open(page, f"#paused&theme=light&hide=floor&camera={camera}", size=(1000, 640))
            picture, speckles = self.picture("plate"), 0
            for y in range(100, 580):
                above, row, below = picture.rows[y - 1:y + 2]
                for c in range(picture.channels * 20 + 1, picture.channels * 620, picture.channels):
                    near = (row[c - picture.channels], row[c + picture.channels], above[c], below[c])
                    speckles += row[c] > max(near) + 10 or row[c] < min(near) - 10
            self.assertLess(speckles, 40)  # 180 and 420 if the search for what is above misses the rim

    def test_shapes_in_one_plane_do_not_flicker(self):
        # two boxes whose upper faces are in one plane: one of them is seen whole
        page = one_body("plane", {"shapes": [
            {"type": "box", "size": [1, 1, 0.2], "color": "#d55e00"},
            {"type": "box", "size": [0.6, 0.6, 0.2], "color": "#0072b2"}]})
        self.open(page, "#paused&theme=light&view=top&hide=paths,floor,shadows")
        picture = self.picture("plane")
        middle = list(picture.region((0.31, 0.46, 0.37, 0.56), step=1))
        blue = sum(p[2] > p[0] + 30 for p in middle)
        self.assertTrue(blue in (0, len(middle)), f"{blue} of {len(middle)}")


class Views(PageTest):
    def test_standard_views(self):
        self.open()
        self.browser.run("document.getElementById('view').focus()")
        for key, axis, sign in (("1", 1, -1), ("2", 1, 1), ("3", 0, -1), ("4", 0, 1), ("5", 2, 1), ("6", 2, -1)):
            self.browser.key(key, "Digit" + key, 48 + int(key))
            state = self.state()
            arm = [c - t for c, t in zip(state["camera"], state["target"])]
            self.assertGreater(sign * arm[axis] / math.hypot(*arm), 0.999, key)
        self.browser.run("document.querySelector('[data-view=front]').click()")
        state = self.state()
        self.assertLess(state["camera"][1], state["target"][1])

    def test_parallel_views_have_no_vanishing_point(self):
        page = one_body("block", {"shapes": [{"type": "box", "size": [1, 8, 1], "color": "#0072b2"}]})
        shares = []
        for parallel in ("", "&parallel"):
            self.open(page, "#paused&theme=light&hide=paths,floor,shadows&view=front&turn=6,0" + parallel)
            self.browser.run(FRAMES)
            shares.append(self.browser.run(
                "(() => { let hits = 0; for (let y = 4; y < 600; y += 6) for (let x = 4; x < 800; x += 6)"
                " hits += polhode.pick(x, y) === 0; return hits; })()"))
            # what is hit by the ray is what is drawn
            picture = self.picture("block" + parallel[1:])
            drawn = picture.share((0.0, 0.06, 0.69, 0.93), lambda r, g, b: b > r + 40)
            self.assertAlmostEqual(drawn, shares[-1] * 36 / (0.69 * 1200 * 0.87 * 760), delta=0.02)
        self.assertTrue(self.state()["parallel"])
        self.assertNotEqual(*shares)

    def test_follow_comes_near(self):
        self.open(page_of("chain_20"))
        far = self.state()
        self.browser.run("document.getElementById('follow').selectedIndex = 2;"
                         "document.getElementById('follow').dispatchEvent(new Event('change'))")
        self.browser.run(FRAMES)
        near = self.state()
        self.assertLess(math.dist(near["camera"], near["target"]), 0.3 * math.dist(far["camera"], far["target"]))
        body = near["followed"]
        self.assertLess(math.dist(near["target"], near["positions"][3 * body:3 * body + 3]), 1e-6)

    def test_arrows_are_as_long_as_suits_the_picture(self):
        def pink(r, g, b):
            return r > 110 and r > g + 45 and b > g + 15
        page = page_of("double_pendulum")
        lengths = []
        for zoom in (0.5, 1):
            self.open(page, f"#paused&t=0.4&theme=light&show=reactions&hide=paths,floor,shadows&zoom={zoom}")
            lengths.append(self.picture(f"arrows_{zoom}").share(VIEW, pink))
        self.assertGreater(min(lengths), 2e-4)
        self.assertLess(max(lengths) / min(lengths), 1.8)
        self.assertIn("reactions up to", self.browser.run("document.getElementById('note').textContent"))

    def test_ghosts_names_and_transparency(self):
        self.open(page_of("double_pendulum"), "#paused&theme=light&t=0.4&hide=paths")
        self.browser.run("document.getElementById('view').focus()")
        plain = self.picture("plain")
        for key, number in (("g", 71), ("n", 78), ("x", 88)):
            self.browser.key(key, "Key" + key.upper(), number)
        state = self.state()
        self.assertIn("ghosts", state["shown"])
        self.assertIn("labels", state["shown"])
        self.assertLess(state["opacity"], 1)
        changed = self.picture("ghosts")
        self.assertGreater(sum(a != b for a, b in zip(plain.region(VIEW), changed.region(VIEW))), 2000)

    def test_a_period_takes_some_seconds(self):
        for name in ("squeezer", "double_pendulum", "planetary_gear", "chain_20"):
            self.open(page_of(name))
            state = self.state()
            self.assertGreater(state["span"] / state["speed"], 1.0, name)
            self.assertLess(state["span"] / state["speed"], 9.0, name)

    def test_phases_of_a_vibration_are_one_period(self):
        model = {"bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1]}], "simulation": {"step": 0.1, "end": 1}}
        pathlib.Path("mode.json").write_text(json.dumps(model), encoding="ascii")
        lines = ["t,a.position.x,a.position.y,a.position.z,a.quaternion.w,a.quaternion.x,a.quaternion.y,a.quaternion.z"]
        period = 2e-3
        for i in range(41):
            lines.append(f"{period * i / 40},0,0,{math.cos(2 * math.pi * i / 40)},1,0,0,0")
        pathlib.Path("mode.csv").write_text("\n".join(lines) + "\n", encoding="ascii")
        polhode("view", "mode.csv", "--model", "mode.json", "--quiet")
        self.open("mode.html", "")
        state = self.state()
        self.assertAlmostEqual(state["span"], period, delta=0.05 * period)
        self.assertTrue(state["loop"])
        self.assertGreater(period / state["speed"], 1.0)


class Poinsot(PageTest):
    def test_the_nut_rolls_on_the_invariable_plane(self):
        self.open(page_of("dzhanibekov_nut"), "#paused&polhode=nut&t=5")
        state = self.state()
        self.assertEqual(state["polhode"], 0)
        self.assertTrue(state["steady"])
        data = self.browser.run("polhode.poinsot()")
        x, J, space = data["x"], data["J"], data["space"]
        normal = None
        for f in range(0, len(x), 3 * 40):
            on = sum(J[c] * x[f + c] ** 2 for c in range(3))
            self.assertAlmostEqual(on, 1, delta=1e-5)  # on the ellipsoid
        # heights of the herpolhode along the momentum, h = sqrt(2 T) / |L|: the same at all times
        points = [space[i:i + 3] for i in range(0, len(space), 3)]
        a, b, c = points[0], points[len(points) // 3], points[2 * len(points) // 3]
        u, v = ([q - p for p, q in zip(a, other)] for other in (b, c))
        normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        size, reach = math.hypot(*normal), max(math.hypot(*p) for p in points)
        heights = [sum(n * p for n, p in zip(normal, point)) / size for point in points]
        self.assertLess(max(heights) - min(heights), 4e-3 * reach)
        self.assertIn("invariable plane", self.browser.run("document.getElementById('polhode-note').textContent"))

    def test_a_top_in_gravity_has_no_herpolhode(self):
        self.open(settings="#paused")
        self.browser.run("document.getElementById('view').focus()")
        self.browser.key("h", "KeyH", 72)
        self.assertEqual(self.state()["polhode"], 0)
        self.assertFalse(self.state()["steady"])
        self.browser.key("h", "KeyH", 72)
        self.assertEqual(self.state()["polhode"], -1)


class Many(PageTest):
    def test_ten_thousand_bodies(self):
        write_model(pathlib.Path("many.json"), 10000)
        write_result(pathlib.Path("many.csv"), 10000, 3)
        polhode("view", "many.csv", "--model", "many.json", "--quiet")
        self.open("many.html", "#paused&theme=light")
        state = self.state()
        self.assertEqual(state["bodies"], 10000)
        self.assertLess(state["drawCalls"], 10)
        self.assertGreater(state["triangles"], 10000 * 20)
        background = self.picture("many").share(VIEW, lambda r, g, b: min(r, g, b) > 225)
        self.assertLess(background, 0.9)
        self.assertGreater(background, 0.5)


def unpack(data):
    """JSON and numbers of a binary glTF file, checked as far as its own sizes go."""
    magic, version, total, length, kind = struct.unpack("<5I", data[:20])
    assert (magic, version, total, kind) == (0x46546C67, 2, len(data), 0x4E4F534A), "the header"
    gltf = json.loads(data[20:20 + length])
    size, kind = struct.unpack("<2I", data[20 + length:28 + length])
    assert kind == 0x004E4942 and 28 + length + size == len(data), "the buffer"
    assert gltf["buffers"] == [{"byteLength": size}]
    numbers = []
    for accessor in gltf["accessors"]:
        view = gltf["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        count = accessor["count"] * width
        assert view["byteLength"] == 4 * count and view["byteOffset"] % 4 == 0
        letter = {5126: "f", 5125: "I"}[accessor["componentType"]]
        values = struct.unpack_from(f"<{count}{letter}", data, 28 + length + view["byteOffset"])
        if "min" in accessor:
            assert all(abs(min(values[c::width]) - accessor["min"][c]) < 1e-6 for c in range(width))
            assert all(abs(max(values[c::width]) - accessor["max"][c]) < 1e-6 for c in range(width))
        numbers.append(values)
    return gltf, numbers


class Saving(PageTest):
    def save(self, kind):
        return base64.b64decode(self.browser.run(f"polhode.save('{kind}')"))

    def test_picture(self):
        self.open(settings="#paused&t=0.3&theme=light&show=labels")
        png = self.save("png")
        pathlib.Path("saved.png").write_bytes(png)
        picture = Picture(png)
        width, height = self.browser.run("(({clientWidth, clientHeight}) => [clientWidth, clientHeight])"
                                         "(document.getElementById('view'))")
        self.assertEqual((picture.width, picture.height), (2 * width, 2 * height))
        self.assertGreater(picture.share((0, 0, 1, 1), lambda r, g, b: b > r + 60), 0.004)

    def check_motion(self, data):
        """The heavy top in a glTF file: its node, and its motion against the result."""
        gltf, numbers = unpack(data)
        node = next(i for i, one in enumerate(gltf["nodes"]) if one.get("name") == "top")
        self.assertGreaterEqual(len(gltf["nodes"][node]["children"]), 3)
        animation = gltf["animations"][0]
        targets = {(c["target"]["node"], c["target"]["path"]): animation["samplers"][c["sampler"]]
                   for c in animation["channels"]}
        times = numbers[targets[node, "translation"]["input"]]
        with open(self.result, encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        place = numbers[targets[node, "translation"]["output"]]
        turn = numbers[targets[node, "rotation"]["output"]]
        for i in (0, len(times) // 3, len(times) - 1):
            row = min(rows, key=lambda one: abs(float(one["t"]) - times[i]))
            for c in range(3):
                self.assertAlmostEqual(place[3 * i + c], float(row["top.position." + "xyz"[c]]), delta=1e-4)
            q = [float(row["top.quaternion." + c]) for c in "xyzw"]
            self.assertGreater(abs(sum(a * b for a, b in zip(q, turn[4 * i:4 * i + 4]))), 1 - 1e-6)
        # up is y: the root turns z there
        root = gltf["nodes"][gltf["scenes"][0]["nodes"][0]]["rotation"]
        for part, wanted in zip(root, (-math.sqrt(0.5), 0, 0, math.sqrt(0.5))):
            self.assertAlmostEqual(part, wanted, delta=1e-6)

    def test_gltf_of_the_page(self):
        self.open(settings="#paused")
        self.check_motion(self.save("glb"))

    def test_gltf_of_the_command(self):
        polhode("view", self.result, "--model", self.model, "--out", "top.glb", "--quiet")
        self.check_motion(pathlib.Path("top.glb").read_bytes())

    def test_gltf_of_shapes_of_all_kinds(self):
        pathlib.Path("part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
                                            encoding="ascii")
        shapes = [{"type": "box", "size": [1, 2, 3]}, {"type": "sphere", "radius": 1}, {"type": "cone", "radius": 1, "length": 2},
                  {"type": "cylinder", "radius": 1, "length": 2}, {"type": "mesh", "file": "part.obj"}]
        one_body("kinds", {"shapes": shapes})
        polhode("view", "kinds.csv", "--model", "kinds.json", "--out", "kinds.glb", "--quiet")
        gltf, numbers = unpack(pathlib.Path("kinds.glb").read_bytes())
        for mesh in gltf["meshes"]:
            attributes = mesh["primitives"][0]["attributes"]
            p, n = numbers[attributes["POSITION"]], numbers[attributes["NORMAL"]]
            volume = 0
            for i in range(0, len(p), 9):
                a, b, c = p[i:i + 3], p[i + 3:i + 6], p[i + 6:i + 9]
                u, v = [y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)]
                cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
                volume += sum(x * y for x, y in zip(a, cross)) / 6
                for k in (0, 3, 6):  # normals are of length 1 and on the side of the face
                    self.assertAlmostEqual(math.hypot(*n[i + k:i + k + 3]), 1, delta=1e-5)
                    self.assertGreater(sum(x * y for x, y in zip(cross, n[i + k:i + k + 3])), 0)
            self.assertGreater(volume, 0.1)  # closed, and the outside is outside
        # a reader of another kind agrees: the loader of three.js
        loader = pathlib.Path("/usr/share/javascript/three/examples/js/loaders/GLTFLoader.js")
        self.open()
        self.browser.run(loader.read_text(encoding="utf-8") + "; 1")
        text = base64.b64encode(pathlib.Path("kinds.glb").read_bytes()).decode()
        found = self.browser.run(
            f"(() => {{ const bytes = Uint8Array.from(atob('{text}'), (c) => c.charCodeAt(0));"
            " return new Promise((done, fail) => new THREE.GLTFLoader().parse(bytes.buffer, '', (gltf) => {"
            " let meshes = 0; gltf.scene.traverse((one) => { meshes += one.isMesh ? 1 : 0; });"
            " done([meshes, gltf.animations.length, gltf.animations[0].tracks.length]); }, fail)); })()")
        self.assertEqual(found, [5, 1, 2])


if __name__ == "__main__":
    run_tests()
