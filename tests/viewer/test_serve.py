#!/usr/bin/env python3
"""The page of polhode serve in a headless Chromium.

    test_serve.py POLHODE SOURCE_DIR
"""
import copy
import json
import pathlib
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

from browser import Browser
from page_case import VIEW, is_blue, real_problems
from serve_case import PENDULUM, Server, fresh_model, save, write_model

POLHODE = SOURCE = None


def changed(**keys):
    model = copy.deepcopy(PENDULUM)
    model.update(keys)
    return model


class ServePage(unittest.TestCase):
    browser = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(1360, 800)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.folder, self.model = fresh_model(self)

    def open(self, *options):
        server = Server(POLHODE, self.model, *options, listen=False)
        self.addCleanup(server.__exit__)
        self.addCleanup(self.browser.call, "Page.navigate", url="about:blank")  # this comes first
        self.browser.open_address(server.address)
        return server

    def wait_run(self, after, status):
        """Waits for the end of a run after this one, and for its page."""
        self.browser.wait_for(f"(s => s && s.run > {after} && s.status === '{status}' && (!s.view || "
                              "polhodeServe.views.page === s.view.page))(polhodeServe.state())")
        return self.browser.run("polhodeServe.state()")

    def text(self, selector):
        return self.browser.run(f"[...document.querySelectorAll('{selector}')].filter(e => e.checkVisibility())"
                                ".map(e => e.innerText).join('\\n')")

    def check_problems(self):
        self.assertEqual(real_problems(self.browser), [])

    def test_ten_edits(self):
        """The page shows a result, is edited ten times with errors in between, and shows each of them."""
        self.open()
        state = self.wait_run(0, "done")
        self.assertIn("Done in", self.text("#headline"))
        self.assertIn("t = 0.2 s", self.text("#verdict"))
        self.assertGreater(self.browser.screenshot("result.png").share(VIEW, is_blue), 0.0005)
        good = json.dumps(PENDULUM, indent=1)
        line_of = lambda text, words: 1 + next(i for i, line in enumerate(text.split("\n")) if words in line)
        edits = [  # text, what the page says, and the lines with marks
            (good.replace('"mass": "m"', '"mass": -2').replace('"gravity"', '"gravty"'), "2 errors in the model",
             ['"mass": -2', '"gravty"']),
            (good.replace('"end": 0.2', '"end": 0.3'), "t = 0.3 s", []),
            (good.replace("0.01,", "0.01", 1), "1 error in the model", None),
            (good.replace('"revolute"', '"revolut"'), "1 error in the model", ['"revolut"']),
            (good.replace('"end": 0.2', '"end": 0.1'), "t = 0.1 s", []),
            (good.replace('"end": 0.2', '"end": -1').replace('"step": 0.001', '"step": 0'), "2 errors in the model",
             ['"step": 0', '"end": -1']),
            (good, "t = 0.2 s", []),
            (good.replace('"L"', '"LL"', 1), "1 error in the model", ['"L",']),
            (good.replace('"m": 2', '"m": "1 +"'), "1 error in the model", ['"m": "1 +"']),
            (good.replace('"end": 0.2', '"end": 0.25'), "t = 0.25 s", []),
        ]
        for text, words, wrong in edits:
            save(self.model, text)
            last = state["run"]
            state = self.wait_run(last, "invalid" if "error" in words else "done")
            self.browser.wait_for("document.getElementById('source').hidden === " + str(not "error" in words).lower())
            if "error" not in words:
                self.assertIn(words, self.text("#verdict"))
                self.assertEqual(self.text("#errors"), "")
                continue
            self.browser.wait_for("document.querySelectorAll('.mark').length > 0")
            self.assertEqual(self.text("#headline"), words)
            self.assertIn("Last result", self.text("#stale"))
            self.assertTrue(self.browser.run("(a => a('stale').bottom <= a('frames').top)(id => "
                                             "document.getElementById(id).getBoundingClientRect())"))
            marked = self.browser.run("[...document.querySelectorAll('.line.wrong')].map(e => Number(e.id.slice(5)))")
            if wrong is not None:
                self.assertEqual(sorted(marked), sorted({line_of(text, one) for one in wrong}), words)
                # each message is below its line
                rules = [error["rule"] for error in state["report"]["errors"]]
                marks = self.text(".mark")
                for rule in rules:
                    self.assertIn(rule, marks)
                self.assertTrue(self.browser.run("[...document.querySelectorAll('.line.wrong')]"
                                                 ".every(e => e.nextElementSibling.className === 'mark')"))
            else:
                self.assertEqual(len(marked), 1)
            # and in sight
            self.assertTrue(self.browser.run(
                "(([a, b]) => a.top >= b.top && a.bottom <= b.bottom)([document.querySelector('.line.wrong'), "
                "document.getElementById('code')].map(e => e.getBoundingClientRect()))"))
            self.browser.screenshot(f"errors_{state['run']}.png")
        self.check_problems()
        self.assertTrue(all(address.startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:", "data:"))
                            for address in self.browser.requests if address != "about:blank"))

    def test_sliders(self):
        server = self.open()
        state = self.wait_run(0, "done")
        box = self.browser.run("(b => [b.left, b.right, b.top + b.height / 2])(document.querySelector("
                               "'[data-name=L] input[type=range]').getBoundingClientRect())")
        # 0.5 on a slider from 0.1 to 2, drawn to the right in steps
        left, right, y = box
        x = left + 8 + (right - left - 16) * (0.5 - 0.1) / 1.9
        self.browser.mouse("mousePressed", x, y, "left", 1, 1)
        for i in range(1, 21):
            self.browser.mouse("mouseMoved", x + 5 * i, y, "left", 1)
            time.sleep(0.02)
        self.browser.mouse("mouseReleased", x + 100, y, "left", 0, 1)
        shown = float(self.browser.run("document.getElementById('number-L').value"))
        self.assertGreater(shown, 0.8)
        self.browser.wait_for(f"(s => s.status === 'done' && s.parameters[0].value === {shown})(polhodeServe.state())")
        run = self.browser.run("polhodeServe.state().run")
        self.assertLess(run - state["run"], 20)
        self.wait_run(run - 1, "done")
        # the viewer shows the new length: the bob starts there
        self.browser.wait_for("polhodeServe.viewer() !== null")
        self.browser.run("polhodeServe.viewer().pause(); polhodeServe.viewer().seek(0)")
        self.browser.run("new Promise(requestAnimationFrame)")
        self.assertAlmostEqual(self.browser.run("polhodeServe.viewer().state().positions[0]"), shown, delta=1e-3)
        # typed beyond the ends that the file gives: at the end; reset takes it back
        self.browser.run("(e => { e.value = '7'; e.dispatchEvent(new Event('change')); })"
                         "(document.getElementById('number-L'))")
        self.browser.wait_for("(s => s.status === 'done' && s.parameters[0].value === 2)(polhodeServe.state())")
        self.assertIn("weight\t19.62\t= m*9.81", self.text("#derived"))
        self.browser.run("document.querySelector('[data-name=L] button').click()")
        self.browser.wait_for("(s => s.status === 'done' && s.parameters[0].value === 0.5)(polhodeServe.state())")
        self.assertEqual(self.browser.run("document.getElementById('number-L').value"), "0.5")
        self.assertEqual(server.process.poll(), None)
        self.check_problems()

    def test_settings_stay(self):
        """What the user has set in the viewer is the same with the next result."""
        self.open()
        state = self.wait_run(0, "done")
        self.browser.run("(v => { v.pause(); v.seek(0.125); v.setSpeed(0.5); v.look('top'); v.show('labels', true); "
                         "v.show('floor', false); v.replot(['bob.velocity.z']); v.setOpacity(0.5); })(polhodeServe.viewer())")
        self.browser.run("document.getElementById('theme').click(); document.getElementById('panel').click()")
        for _ in range(3):  # the view fits its new size in the next frames
            self.browser.run("new Promise(requestAnimationFrame)")
        before = self.browser.run("polhodeServe.viewer().state()")
        self.browser.run("document.getElementById('again').click()")
        self.wait_run(state["run"], "done")
        after = self.browser.run("polhodeServe.viewer().state()")
        for key in ("time", "playing", "speed", "shown", "plotted", "opacity", "dark"):
            self.assertEqual(after[key], before[key], key)
        for key in ("camera", "target"):
            for a, b in zip(after[key], before[key]):
                self.assertAlmostEqual(a, b, places=5)
        self.assertTrue(self.browser.run("polhodeServe.views.shown.contentDocument.body.classList.contains('wide')"))
        self.check_problems()

    def test_failure_progress_stop_and_end(self):
        write_model(self.model, changed(forces=[
            {"type": "force", "name": "pull", "body": "bob", "force": [0, 0, "sqrt(0.1 - t)"]}]))
        server = self.open()
        self.wait_run(0, "failed")
        self.browser.wait_for("polhodeServe.viewer() !== null")
        self.assertEqual(self.text("#headline"), "The simulation failed")
        for words in ("t = 0.1", "step ", "pull", "Try"):
            self.assertIn(words, self.text("#failure"))
        self.assertEqual(self.text("#stale"), "Results up to the failure")
        self.assertAlmostEqual(self.browser.run("polhodeServe.viewer().state().duration"), 0.1, delta=0.002)
        self.browser.run("document.getElementById('source-button').click()")
        self.browser.wait_for("document.querySelectorAll('.line.wrong').length === 1")
        self.assertIn('"name": "pull"', self.text(".line.wrong"))
        self.browser.screenshot("failure.png")
        # a long run: progress, results so far, stop
        write_model(self.model, changed(simulation={"step": 1e-4, "end": 2000, "output": {"step": 0.01}}))
        self.browser.wait_for("document.getElementById('status').innerText.startsWith('running') && "
                              "polhodeServe.state().view.partial")
        self.browser.wait_for("document.getElementById('bar-done').style.width.endsWith('%')")
        self.assertEqual(self.text("#stale"), "Results so far")
        self.browser.screenshot("running.png")
        self.browser.run("document.getElementById('stop').click()")
        self.wait_run(1, "interrupted")
        self.assertEqual(self.text("#headline"), "Stopped")
        self.assertEqual(self.text("#stale"), "Results up to the stop")
        self.check_problems()
        # the server ends: the page says so
        self.assertEqual(server.end()[0], 0)
        self.browser.wait_for("!document.getElementById('lost').hidden")
        # and goes on with the next one at this address, whose pages have the same names
        write_model(self.model, changed(simulation={"step": 1e-3, "end": 0.35}))
        again = Server(POLHODE, self.model, listen=False, port=server.port)
        self.addCleanup(again.__exit__)
        self.addCleanup(self.browser.call, "Page.navigate", url="about:blank")
        self.browser.wait_for("document.getElementById('lost').hidden && polhodeServe.state().run === 1")
        self.wait_run(0, "done")
        self.assertAlmostEqual(self.browser.run("polhodeServe.viewer().state().duration"), 0.35, places=5)


if __name__ == "__main__":
    POLHODE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
