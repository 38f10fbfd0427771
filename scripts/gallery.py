#!/usr/bin/env python3
"""Makes the pictures of the pages in docs/ anew, by the commands that stand in the pages.

    scripts/gallery.py POLHODE

Runs the examples of each page (page_examples.py) and copies the pictures that the page shows,
images/NAME, from what the commands wrote.  A picture NAME_page.png is a screenshot of NAME.html, taken
with a headless Chromium; so is the page of polhode serve, with errors in a copy of the hexapod.
"""
import pathlib
import re
import shutil
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(SOURCE / "tests/viewer"), str(SOURCE / "tests/cli")]
sys.dont_write_bytecode = True

from browser import Browser  # noqa: E402
from page_examples import run_page  # noqa: E402
from serve_case import Server, save  # noqa: E402

PAGES = ("getting-started.md", "tutorial.md", "gallery.md")
# size and start of the pages that are photographed, as docs/viewer.md explains
SHOTS = {
    "heavy_top": (1000, 640, "t=0.3"),
    "spatial_slider_crank": (1000, 640, "t=0.35&plot=guide.displacement,guide.speed"),
    "suspension": (1000, 640, "t=0.6&plot=chassis.position.z,wheel.position.z"),
    "dzhanibekov_nut": (1000, 640, "t=4.9&plot=nut.angular_velocity&polhode=nut&zoom=0.6"),
    "stewart_platform": (1000, 640, "t=0.75&plot=platform.position"),
    "bicycle": (1000, 640, "t=1.3&plot=steering.angle,frame.angular_velocity.x&turn=-30,0&zoom=1.1"),
    "hexapod": (1000, 640, "t=1.4&plot=trunk.position"),
    "planetary_gear": (1000, 640, "t=0.7&plot=planet.angular_velocity.z,sun.angular_velocity.z"),
}


def photograph(browser, page, picture):
    width, height, start = SHOTS[page.stem]
    browser.resize(width, height)
    browser.open(page, f"#{start}&paused&theme=light&pixels=2")
    browser.wait_for("window.polhode !== undefined")
    browser.wait_for("polhode.state().still")
    # two frames: the first draws, the second shows
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
    browser.screenshot(picture)


def photograph_serve(browser, polhode, folder, picture):
    """The page of polhode serve with a result, and errors in the file that came after it."""
    shutil.copytree(SOURCE / "models/examples", folder / "serve")
    model = folder / "serve/hexapod.json"
    with Server(polhode, model, "--end", 2, listen=False) as server:
        browser.resize(1200, 760)
        browser.emulate(prefers_color_scheme="light")
        browser.open_address(server.address)
        browser.wait_for("polhodeServe.viewer() !== null && polhodeServe.state().status === 'done'")
        browser.wait_for("polhodeServe.views.page === '1'")
        browser.run("polhodeServe.viewer().pause(); polhodeServe.viewer().seek(0.9); "
                    "document.getElementById('panel').click()")
        text = model.read_text(encoding="utf-8")
        save(model, text.replace('"density": 250', '"density": -250').replace('"shapes": [{', '"shape": [{'))
        browser.wait_for("polhodeServe.state().status === 'invalid' && document.querySelector('.mark') !== null")
        browser.wait_for("polhodeServe.viewer().state().still")
        browser.screenshot(picture)
        browser.call("Page.navigate", url="about:blank")


def shown_pictures(page):
    return sorted(set(re.findall(r"\]\(images/([\w.-]+)\)", page.read_text(encoding="utf-8"))))


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    polhode = pathlib.Path(arguments[0]).resolve()
    images = SOURCE / "docs/images"
    with tempfile.TemporaryDirectory() as name, Browser(timeout=180) as browser:
        for page in PAGES:
            folder = pathlib.Path(name) / page
            folder.mkdir()
            print(f"==> docs/{page}")
            run_page(SOURCE / "docs" / page, polhode, folder, SOURCE / "models")
            for picture in shown_pictures(SOURCE / "docs" / page):
                html = folder / picture.replace("_page.png", ".html")
                if picture.endswith("_page.png") and html.exists():
                    photograph(browser, html, images / picture)
                elif (folder / picture).exists():
                    shutil.copyfile(folder / picture, images / picture)
                else:
                    continue
                print(f"    docs/images/{picture}")
        photograph_serve(browser, polhode, pathlib.Path(name), images / "serve.png")
        print("    docs/images/serve.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
