"""A running polhode serve for tests: its process, its requests and its events.  Standard library only."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

PENDULUM = {
    "name": "pendulum",
    "parameters": {"L": {"value": 0.5, "unit": "m", "min": 0.1, "max": 2, "description": "length"},
                   "m": 2, "weight": "m*9.81"},
    "gravity": [0, 0, -9.81],
    "bodies": [{"name": "bob", "mass": "m", "inertia": [0.01, 0.01, 0.01], "position": ["L", 0, 0]}],
    "joints": [{"name": "hinge", "type": "revolute", "bodies": ["ground", "bob"], "point": [0, 0, 0],
                "axis": [0, 1, 0]}],
    "simulation": {"step": 1e-3, "end": 0.2},
}


def save(path, text):
    """Replaces a file at once, as editors do that rename a new one."""
    new = str(path) + ".new"
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(new, path)


def write_model(path, model):
    save(path, json.dumps(model, indent=1))


def fresh_model(test):
    """A folder with the name of a test and the pendulum as its model."""
    folder = pathlib.Path(test.id().split(".")[-1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_model(folder / "model.json", PENDULUM)
    return folder, folder / "model.json"


def listening_sockets(pid):
    """Addresses, as in /proc/net/tcp, on which a process listens: "0100007F:1DE6"."""
    inodes = set()
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        try:
            with open(f"/proc/net/{table}", encoding="ascii") as file:
                lines = file.read().splitlines()[1:]
        except FileNotFoundError:
            continue
        listens = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}[table]
        found += [table + " " + words[1] for words in map(str.split, lines)
                  if words[9] in inodes and words[3] == listens]
    return found


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


class Server:
    """polhode serve and one page that listens; use it in a with statement."""

    def __init__(self, polhode, model, *options, listen=True, port=0):
        self.process = subprocess.Popen(
            [polhode, "serve", str(model), "--port", str(port), "--no-open", *map(str, options)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._begin(self.process.stdout.readline(), listen)

    @classmethod
    def follow(cls, polhode, *arguments):
        """polhode run --watch with a page that listens."""
        self = cls.__new__(cls)
        self.process = subprocess.Popen([polhode, "run", *map(str, arguments), "--watch"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._begin(self.process.stderr.readline().removeprefix("polhode run: "), True)
        return self

    def _begin(self, line, listen):
        if not line.startswith("http://127.0.0.1:"):
            raise AssertionError(line + self.process.stderr.read())
        self.address = line.split()[0]
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])
        self.states, self.progress = [], []
        self.news = threading.Condition()
        if listen:
            threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        if self.process.poll() is None:
            self.end()

    def end(self, how=signal.SIGINT):
        """Ends the server as Ctrl-C does; its exit status and what it printed."""
        self.process.send_signal(how)
        try:
            out, err = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, out, err

    def _listen(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("GET", "/events")
        answer, event = connection.getresponse(), None
        try:
            while True:
                line = answer.readline().decode()
                if not line:
                    return
                if line.startswith("event: "):
                    event = line[7:].strip()
                elif line.startswith("data: "):
                    with self.news:
                        (self.states if event == "state" else self.progress).append(json.loads(line[6:]))
                        self.news.notify_all()
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass
        finally:
            answer.close()
            connection.close()

    @property
    def state(self):
        return self.states[-1]

    def wait(self, condition, timeout=60.0, what="the state"):
        """Waits until the condition holds for the state; gives that state."""
        end = time.monotonic() + timeout
        with self.news:
            while not (self.states and condition(self.states[-1])):
                left = end - time.monotonic()
                if left <= 0 or not self.news.wait(left):
                    raise AssertionError(f"{what} did not come: {self.states[-1:]}")
            return self.states[-1]

    def wait_ended(self, after=0, timeout=60.0):
        """The state when a run later than this one has ended."""
        return self.wait(lambda s: s["run"] > after and s["status"] not in ("running", "waiting"), timeout,
                         f"the end of a run after {after}")

    def request(self, method, path, body=None, headers=None):
        """Status and body of one request with exactly this path."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {"Content-Type": "application/json"} if method == "POST" else {}
        sent.update(headers or {})
        connection.request(method, path, body, {k: v for k, v in sent.items() if v is not None})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def post(self, path, body=None):
        return self.request("POST", path, json.dumps(body or {}))
