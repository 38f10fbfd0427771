"""A headless Chromium, driven over the DevTools protocol.

The protocol runs over two pipes (--remote-debugging-pipe): JSON messages that end with a zero byte,
read from descriptor 3 and written to descriptor 4 of the browser.  Standard library only.
"""
import base64
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--hide-scrollbars",
         "--mute-audio", "--remote-debugging-pipe")


class BrowserError(Exception):
    """The browser is missing, died, did not answer in time, or a script threw."""


def find_browser():
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    raise BrowserError("no Chromium found (" + ", ".join(NAMES) + "); on Debian: "
                       "apt-get install chromium")


class Browser:
    """One page of one browser; use it in a with statement."""

    def __init__(self, width=1200, height=760, timeout=60.0):
        self.timeout = timeout
        self.number = 0
        self.buffer = b""
        self.problems = []  # console errors and warnings, exceptions, failed requests
        self.requests = []  # addresses that the page asked for
        self.profile = tempfile.mkdtemp(prefix="polhode-browser-")
        self._start(width, height)

    def _start(self, width, height):
        to_browser, self.send_fd = os.pipe()
        self.receive_fd, from_browser = os.pipe()

        def move_pipes():
            # 3 and 4 may be ends of these pipes already: copy out of the way first
            reader, writer = os.dup(to_browser), os.dup(from_browser)
            high_reader = os.dup2(reader, 30)
            high_writer = os.dup2(writer, 31)
            os.dup2(high_reader, 3)
            os.dup2(high_writer, 4)

        command = [find_browser(), *FLAGS, f"--user-data-dir={self.profile}",
                   f"--window-size={width},{height}", "about:blank"]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, close_fds=False, preexec_fn=move_pipes,
                                        start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        target = self._first_page()
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def _first_page(self):
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return target["targetId"]
            time.sleep(0.05)
        raise BrowserError("the browser opened no page")

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        """Ends the browser and its helpers, and removes its profile."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for descriptor in (self.send_fd, self.receive_fd):
            os.close(descriptor)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    # --- messages -------------------------------------------------------------------------------

    def _receive(self, end):
        """The next message; None when the time is over."""
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.receive_fd], [], [], left)[0]:
                return None
            chunk = os.read(self.receive_fd, 1 << 20)
            if not chunk:
                self.log.seek(0)
                raise BrowserError("the browser ended:\n" + self.log.read().decode(errors="replace"))
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        """One command and its answer; what happens meanwhile is noted."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.send_fd, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.timeout
        while True:
            answer = self._receive(end)
            if answer is None:
                raise BrowserError(f"no answer to {method} in {self.timeout} s")
            if answer.get("id") == self.number:
                break
            self._note(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _note(self, event):
        """Keeps what went wrong on the page, and what it loaded."""
        method, data = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled" and data["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description")))
                                          for a in data["args"]))
        elif method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and data["entry"]["level"] in ("error", "warning"):
            self.problems.append(data["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(data["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    # --- the page -------------------------------------------------------------------------------

    def open_address(self, address):
        """Loads a page from a server and waits until all its scripts have run."""
        self.problems.clear()
        self.requests.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.protocol === 'http:'")

    def open(self, path, settings=""):
        """Loads a file from the disk and waits until all its scripts have run."""
        self.loaded = False
        self.problems.clear()
        self.requests.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + settings)
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")

    def run(self, script):
        """The value of an expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait_for(self, condition, timeout=None):
        """Waits until an expression is true."""
        end = time.monotonic() + (timeout or self.timeout)
        while not self.run(condition):
            if time.monotonic() > end:
                raise BrowserError(f"this did not come true: {condition}")
            time.sleep(0.02)

    def resize(self, width, height, pixels=1):
        """The size of the page, and how many pixels the screen has for one of the page, each way."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=pixels, mobile=False)

    def emulate(self, **features):
        """Media features: prefers_color_scheme="dark"."""
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def key(self, key, code=None, number=0):
        text = key if len(key) == 1 else None
        common = {"key": key, "code": code or key, "windowsVirtualKeyCode": number}
        down = dict(common, type="keyDown" if text else "rawKeyDown")
        if text:
            down["text"] = text
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", **dict(common, type="keyUp"))

    def mouse(self, kind, x, y, button="none", buttons=0, clicks=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons,
                  clickCount=clicks)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, "left", 1, 1)
        self.mouse("mouseReleased", x, y, "left", 0, 1)

    def screenshot(self, path=None):
        """The page as pixels (see Picture); also as a PNG file."""
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(png)
        return Picture(png)


class Picture:
    """A PNG of 8 bits a channel, without interlacing, as Chromium writes them."""

    def __init__(self, png):
        at, data = 8, b""
        while at < len(png):
            size, kind = struct.unpack(">I4s", png[at:at + 8])
            body = png[at + 8:at + 8 + size]
            if kind == b"IHDR":
                self.width, self.height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
                if depth != 8 or color not in (2, 6) or interlace:
                    raise ValueError("not the PNG of a screenshot")
                self.channels = 4 if color == 6 else 3
            elif kind == b"IDAT":
                data += body
            at += 12 + size
        self._decode(zlib.decompress(data))

    def _decode(self, data):
        """Undoes the filters of the PNG standard, 9.2."""
        step, stride = self.channels, self.channels * self.width
        self.rows, last = [], bytearray(stride)
        for y in range(self.height):
            kind = data[y * (stride + 1)]
            row = bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
            if kind == 1:
                for i in range(step, stride):
                    row[i] = (row[i] + row[i - step]) & 255
            elif kind == 2:
                for i in range(stride):
                    row[i] = (row[i] + last[i]) & 255
            elif kind == 3:
                for i in range(stride):
                    left = row[i - step] if i >= step else 0
                    row[i] = (row[i] + (left + last[i]) // 2) & 255
            elif kind == 4:
                for i in range(stride):
                    a = row[i - step] if i >= step else 0
                    b, c = last[i], last[i - step] if i >= step else 0
                    p = a + b - c
                    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                    best = a if pa <= pb and pa <= pc else b if pb <= pc else c
                    row[i] = (row[i] + best) & 255
            self.rows.append(row)
            last = row

    def pixel(self, x, y):
        at = self.channels * x
        return tuple(self.rows[y][at:at + 3])

    def region(self, box, step=2):
        """Every other pixel of (left, top, right, bottom), as parts of the picture's size."""
        left, top, right, bottom = box
        for y in range(int(top * self.height), int(bottom * self.height), step):
            for x in range(int(left * self.width), int(right * self.width), step):
                yield self.pixel(x, y)

    def mean(self, box):
        pixels = list(self.region(box))
        return tuple(sum(p[c] for p in pixels) / len(pixels) for c in range(3))

    def share(self, box, test):
        """The share of pixels for which test(r, g, b) holds."""
        pixels = list(self.region(box))
        return sum(1 for p in pixels if test(*p)) / len(pixels)
