#!/usr/bin/env python3
"""Puts animations into the pages of the site, in place of their screenshots.

    scripts/site/live_pages.py POLHODE FOLDER

Runs the examples of the pages in FOLDER that show images/NAME_page.png (page_examples.py) and replaces
each of these pictures by a frame with NAME.html, which the examples wrote.
"""
import html
import pathlib
import re
import shutil
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "scripts"))
sys.dont_write_bytecode = True

from gallery import SHOTS  # noqa: E402
from page_examples import run_page  # noqa: E402

SCREENSHOT = re.compile(r"!\[([^\]]*)\]\(images/([\w-]+)_page\.png\)")


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    polhode, folder = (pathlib.Path(argument).resolve() for argument in arguments)
    live = folder / "live"
    live.mkdir(exist_ok=True)

    def frame(match):
        description, name = match.groups()
        if not (live / f"{name}.html").exists():
            return match.group(0)
        # as on the picture, but from the start
        start = "&".join(part for part in SHOTS[name][2].split("&") if not part.startswith("t=")) if name in SHOTS else ""
        return f'<iframe class="live" src="live/{name}.html#{html.escape(start)}" title="{description}" loading="lazy"></iframe>'

    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if not SCREENSHOT.search(text) or "```sh" not in text:
            continue
        with tempfile.TemporaryDirectory() as work:
            run_page(page, polhode, work, SOURCE / "models")
            for made in pathlib.Path(work).glob("*.html"):
                shutil.copyfile(made, live / made.name)
        page.write_text(SCREENSHOT.sub(frame, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
