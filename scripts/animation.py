#!/usr/bin/env python3
"""Makes the animation at the top of README.md anew: docs/images/animation.webp.

    scripts/animation.py POLHODE

Runs some models, records their pages with the page's own video export (polhode.save of docs/viewer.md) in a
headless Chromium, and puts the videos side by side with ffmpeg (Debian package ffmpeg).
"""
import base64
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/viewer"))
sys.dont_write_bytecode = True

from browser import Browser  # noqa: E402

SECONDS = 4
SLOWER = 2  # recorded at this multiple of the speed, since every other picture is enough
WIDTH, HEIGHT = 416, 300  # of each of the four
BARS = 98  # height of what a page has above and below the view
# model, arguments of the run, speed, start of the page
CLIPS = (
    ("meijaard-2007/bicycle", ("--set", "bodies.frame.angular_velocity=[4,0,0]", "--end", "4"), 1,
     "turn=-30,0&zoom=1.1"),
    ("examples/dzhanibekov_nut", (), 1.5, "polhode=nut&zoom=0.9&hide=paths"),
    ("examples/hexapod", (), 1, "zoom=1.2"),
    ("examples/planetary_gear", (), 0.5, "hide=paths&zoom=1.12"),
)


def record(browser, polhode, clip, folder):
    """Runs a model and records its page; gives the video."""
    model, arguments, speed, start = clip
    result = folder / (pathlib.Path(model).stem + ".h5")
    subprocess.run([polhode, "run", SOURCE / "models" / (model + ".json"), "--quiet", "--out", result,
                    *arguments], check=True)
    subprocess.run([polhode, "view", result, "--quiet"], check=True)
    # twice the pixels, for smooth edges; the window has more than the view: what is above and below it
    browser.resize(2 * WIDTH, 2 * HEIGHT + BARS)
    browser.open(result.with_suffix(".html"), f"#{start}&speed={SLOWER * speed}&paused&theme=light&panel=0")
    browser.wait_for("polhode.state().still")
    video = result.with_suffix(".webm")
    video.write_bytes(base64.b64decode(browser.run(f"polhode.save('webm', {SECONDS / SLOWER}, true)")))
    return video


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    polhode, out = pathlib.Path(arguments[0]).resolve(), SOURCE / "docs/images/animation.webp"
    with tempfile.TemporaryDirectory() as name, Browser(timeout=1200) as browser:
        videos = [record(browser, polhode, clip, pathlib.Path(name)) for clip in CLIPS]
        inputs = [part for video in videos for part in ("-i", str(video))]
        sized = "".join(f"[{i}]setpts={SLOWER}*PTS,fps={30 // SLOWER},scale={WIDTH}:{HEIGHT}:flags=lanczos[v{i}];" for i in range(4))
        layout = "[v0][v1][v2][v3]xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0"
        subprocess.run(["ffmpeg", "-v", "error", "-y", *inputs, "-filter_complex", sized + layout, "-t", str(SECONDS),
                        "-c:v", "libwebp_anim", "-quality", "62", "-compression_level", "6", "-loop", "0", str(out)],
                       check=True)
    print(f"{out.relative_to(SOURCE)}, {out.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
