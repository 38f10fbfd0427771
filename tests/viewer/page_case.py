"""What the tests of the page have in common: the command, pages of models, one browser."""
import os
import pathlib
import subprocess
import sys
import unittest

from browser import Browser, BrowserError


class Context:
    """Set by run_tests."""
    polhode = source = browser = None


VIEW = (0.02, 0.12, 0.68, 0.9)  # the 3D view in a picture of 1200 x 760
SCENE = (0.1, 0.12, 0.68, 0.9)  # without the compass, which is blue too
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def polhode(*arguments, status=0):
    """Runs the command; gives what it printed on both streams."""
    done = subprocess.run([Context.polhode, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"polhode {arguments}: status {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


def make_page(model, name, *options, run=()):
    """Simulates a model and writes its page; the names of page and result."""
    result, page = pathlib.Path(name + ".csv"), pathlib.Path(name + ".html")
    polhode("run", model, "--out", result, "--quiet", *run)
    polhode("view", result, "--model", model, "--out", page, "--quiet", *options)
    return page, result


def real_problems(browser):
    """Without what the driver of the graphics says about its own speed."""
    return [text for text in browser.problems if "GL Driver Message" not in text]


def is_blue(r, g, b):
    """The first body's colour, lit or in shade."""
    return b > 90 and b > r + 60 and b > g + 25


class PageTest(unittest.TestCase):
    """What all tests have: a page of the heavy top, the browser, the page's state."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Context.browser
        cls.model = Context.source / "models/bruels-cardona-2010/heavy_top.json"
        cls.page = pathlib.Path("heavy_top.html")
        cls.result = pathlib.Path("heavy_top.csv")
        if not cls.page.exists():
            make_page(cls.model, "heavy_top")

    def open(self, page=None, settings="#paused", size=(1200, 760)):
        self.browser.resize(*size)
        self.browser.open(page or self.page, settings)
        self.browser.wait_for("window.polhode !== undefined")
        self.assertEqual(real_problems(self.browser), [])

    def state(self):
        return self.browser.run("polhode.state()")

    def tearDown(self):
        self.assertEqual(real_problems(self.browser), [])

    def picture(self, name):
        """The page when it is at rest, with all its pixels."""
        self.browser.run(FRAMES)
        self.browser.wait_for("polhode.state().playing || polhode.state().still")
        self.browser.run(FRAMES)
        return self.browser.screenshot(name + ".png")


def run_tests():
    """test_NAME.py POLHODE SOURCE_DIR: runs the tests of the program that calls it."""
    Context.polhode, Context.source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    for old in list(pathlib.Path(".").glob("*.html")) + list(pathlib.Path(".").glob("*.csv")):
        old.unlink()
    try:
        with Browser(1200, 760, timeout=180) as Context.browser:
            unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2, exit=True)
    except BrowserError as error:
        sys.exit(f"the viewer cannot be tested: {error}")
