#!/usr/bin/env python3
"""polhode serve without a browser: its address, its requests, files that change, runs that are stopped.

    test_serve.py POLHODE SOURCE_DIR
"""
import copy
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import unittest

from serve_case import PENDULUM, Server, children_of, fresh_model, listening_sockets, save, write_model

POLHODE = SOURCE = None
LONG = 2000.0  # s of simulated time: minutes of a run


def changed(**keys):
    """The pendulum with other values."""
    model = copy.deepcopy(PENDULUM)
    model.update(keys)
    return model


class Serve(unittest.TestCase):
    def setUp(self):
        self.folder, self.model = fresh_model(self)
        os.environ["TMPDIR"] = str((self.folder / "tmp").resolve())
        (self.folder / "tmp").mkdir()

    def tearDown(self):
        self.assertEqual(os.listdir(self.folder / "tmp"), [])  # nothing is left behind

    def serve(self, *options, **keys):
        return Server(POLHODE, self.model, *options, **keys)

    # --- address ------------------------------------------------------------------------------------

    def test_loopback_only(self):
        with self.serve() as server:
            server.wait_ended()
            self.assertEqual(listening_sockets(server.process.pid), [f"tcp 0100007F:{server.port:04X}"])
            code, out, err = server.end()
        self.assertEqual((code, err), (0, ""))
        self.assertIn("done: t = 0.2 s; end accurate to about", out)

    def test_ports(self):
        for word in ("-1", "65536", "x", "80a"):
            done = subprocess.run([POLHODE, "serve", self.model, "--port", word], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--port = {word}: must be a whole number", done.stderr)
        with self.serve() as server:
            taken = subprocess.run([POLHODE, "serve", self.model, "--port", str(server.port)],
                                   capture_output=True, text=True)
            self.assertEqual(taken.returncode, 2)
            self.assertIn("is in use", taken.stderr)
            # without --port two servers find a place each
            ports = set()
            both = [subprocess.Popen([POLHODE, "serve", self.model, "--no-open", "--json"],
                                     stdout=subprocess.PIPE, text=True) for _ in range(2)]
            for one in both:
                text = ""
                while not text.rstrip().endswith("}"):
                    text += one.stdout.readline()
                ports.add(json.loads(text)["port"])
            for one in both:
                one.send_signal(signal.SIGTERM)
                one.communicate(timeout=20)
                self.assertEqual(one.returncode, 0)
            self.assertEqual(len(ports), 2)
            self.assertTrue(all(7654 <= port < 7704 for port in ports))

    # --- requests -----------------------------------------------------------------------------------

    def test_refused_requests(self):
        with self.serve() as server:
            server.wait_ended()
            own = f"127.0.0.1:{server.port}"
            body = json.dumps({"values": {"L": 1.0}})
            for headers, status in ((None, 200), ({"Host": f"localhost:{server.port}"}, 200),
                                    ({"Host": "evil.example"}, 403), ({"Host": f"evil.example:{server.port}"}, 403),
                                    ({"Host": "127.0.0.1"}, 403), ({"Host": "127.0.0.1:1"}, 403),
                                    ({"Host": own + ".evil.example"}, 403)):
                self.assertEqual(server.request("GET", "/", headers=headers)[0], status, headers)
            for headers, status in (({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                                    ({"Origin": f"https://{own}"}, 403), ({"Content-Type": "text/plain"}, 403),
                                    ({"Content-Type": "application/x-www-form-urlencoded"}, 403)):
                for path in ("/parameters", "/run", "/stop"):
                    self.assertEqual(server.request("POST", path, body, headers)[0], status, headers)
            self.assertEqual((server.state["run"], server.state["values"]), (1, {}))
            self.assertEqual(server.request("POST", "/parameters", body, {"Origin": f"http://{own}"})[0], 200)
            self.assertEqual(server.wait_ended(1)["values"], {"L": 1.0})
            for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
                self.assertEqual(server.request(method, "/")[0], 405)
            self.assertEqual(server.request("HEAD", "/"), (200, b""))

    def test_paths_name_no_files(self):
        secret = self.folder / "secret.json"
        write_model(secret, {"secret": 1})
        with self.serve() as server:
            server.wait_ended()
            for path in ("/../secret.json", "/source/../secret.json", "/source/1", "/source/-1", "/source/0x0",
                         "/source/%2e%2e/secret.json", "/source/", "/view/", "/view/../run.json", "/view/9",
                         "/view/1/../run.json", "/view/%2e%2e%2frun.json", "/result/0", "/result/2", "/result/1/..",
                         "/etc/passwd", "//etc/passwd", "/x" * 5000):
                status, data = server.request("GET", path)
                self.assertIn(status, (404, 414, 431), path[:40])
                self.assertNotIn(b"secret", data)
            self.assertEqual(json.loads(server.request("GET", "/source/0")[1]), PENDULUM)
            self.assertTrue(server.request("GET", "/result/1")[1].startswith(b"\x89HDF"))
            self.assertIn(b'id="scene"', server.request("GET", "/view/1")[1])

    def test_bad_bodies(self):
        with self.serve() as server:
            server.wait_ended()
            for body in ("", "[", "[]", "{}", '{"values": 3}', '{"values": {"x": 1}}', '{"values": {"weight": 1}}',
                         '{"values": {"L": "1"}}', '{"values": {"L": 1e999}}', '{"values": {"L": 1, "x": 2}}',
                         '{"values": {"L": [1]}}', "\0" * 100):
                self.assertEqual(server.request("POST", "/parameters", body)[0], 400, body)
            self.assertEqual(server.request("POST", "/parameters", b" " * 200000)[0], 413)
            self.assertEqual(server.request("POST", "/nothing", "{}")[0], 404)
            for text in (b"GET\r\n\r\n", b"\0\1\2\3" * 1000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
                         b"POST /parameters HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
                    try:
                        raw.sendall(text)
                        raw.shutdown(socket.SHUT_WR)
                        raw.recv(1000)
                    except OSError:
                        pass
            self.assertEqual((server.state["run"], server.state["values"]), (1, {}))
            self.assertEqual(server.request("GET", "/")[0], 200)

    def test_many_pages(self):
        """Pages that come and go: each gets the state at once and each change."""
        with self.serve() as server:
            server.wait_ended()
            pages = []
            for _ in range(40):
                page = socket.create_connection(("127.0.0.1", server.port), timeout=20)
                page.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
                pages.append(page)
            for page in pages[::2]:
                page.recv(100)
                page.close()
            server.post("/run")
            server.wait_ended(1)
            for page in pages[1::2]:
                text = b""
                while b'"run":2' not in text:
                    part = page.recv(65536)
                    self.assertTrue(part)
                    text = text[-20:] + part
                page.close()
            # at rest the server sleeps
            stat = pathlib.Path(f"/proc/{server.process.pid}/stat")
            before = sum(map(int, stat.read_text().split()[13:15]))
            time.sleep(2.0)
            self.assertLess(sum(map(int, stat.read_text().split()[13:15])) - before, 30)

    # --- files --------------------------------------------------------------------------------------

    def test_ten_edits(self):
        """The file is edited ten times, with errors in between; each state has what belongs to it."""
        with self.serve() as server:
            state = server.wait_ended()
            self.assertEqual((state["status"], state["view"]["run"]), ("done", 1))
            good = json.dumps(PENDULUM, indent=1)
            edits = [
                (good.replace('"end": 0.2', '"end": 0.3'), "done", "t = 0.3 s"),
                (good.replace('"mass"', '"mas"'), "invalid", "mas"),
                (good.replace('"end": 0.2', '"end": 0.1'), "done", "t = 0.1 s"),
                (good[:len(good) // 2], "invalid", "must be valid JSON"),
                (good.replace('"revolute"', '"revolut"').replace('"mass": "m"', '"mass": -1'), "invalid", "revolut"),
                (good, "done", "t = 0.2 s"),
                ("", "invalid", "empty"),
                (good.replace('"m": 2', '"m": 3'), "done", "t = 0.2 s"),
                (good.replace('"L"', '"LL"', 1), "invalid", "is not a known name"),
                (good.replace('"end": 0.2', '"end": 0.25'), "done", "t = 0.25 s"),
            ]
            last_good = 1
            for number, (text, status, words) in enumerate(edits):
                run = state["run"]
                save(self.model, text)
                state = server.wait_ended(run)
                self.assertEqual(state["status"], status, (number, state))
                self.assertEqual(state["run"], run + 1, "one run for each edit")
                if status == "done":
                    last_good = state["run"]
                    self.assertIn(words, state["report"]["verdict"])
                else:
                    self.assertIn(words, json.dumps(state["report"]["errors"]))
                    self.assertTrue(all(error["line"] > 0 or error["path"].startswith("line ")
                                        for error in state["report"]["errors"]), state["report"])
                # the view stays when there are errors
                self.assertEqual(state["view"], {"page": str(last_good), "run": last_good, "partial": False})
            self.assertEqual(len([e for e in edits if e[1] == "invalid"]), 5)
            two = [s for s in server.states if len(s["report"].get("errors", [])) > 1]
            self.assertTrue(two, "all errors of a run are reported")

    def test_ways_of_saving(self):
        """Written in pieces, renamed, removed and written again: no error in between is shown."""
        text = json.dumps(changed(simulation={"step": 1e-3, "end": 0.15}), indent=1)

        def in_pieces():
            with open(self.model, "w", encoding="utf-8") as file:
                for part in (text[:100], text[100:200], text[200:]):
                    file.write(part)
                    file.flush()
                    time.sleep(0.05)

        def removed_first():
            os.rename(self.model, self.folder / "model.json~")
            time.sleep(0.3)
            save(self.model, text)

        with self.serve() as server:
            state = server.wait_ended()
            for way, longest in ((in_pieces, 0.25), (lambda: save(self.model, text), 9.0), (removed_first, 0.8)):
                for _ in range(20):
                    run, start = state["run"], time.monotonic()
                    way()
                    fast = time.monotonic() - start < longest  # else the machine is too busy for this test
                    state = server.wait(lambda s, run=run: s["run"] > run and s["status"] == "done")
                    time.sleep(0.3)
                    state = server.wait(lambda s: s["status"] == "done")
                    if fast:
                        self.assertEqual(state["run"], run + 1)
                        break
                self.assertTrue(fast, "the machine is too busy")
            # one that stays away is reported, and found again
            self.model.unlink()
            state = server.wait_ended(state["run"])
            self.assertEqual(state["status"], "invalid")
            self.assertIn("No such file", json.dumps(state["report"]))
            self.assertFalse(state["files"][0]["exists"])
            save(self.model, text)
            self.assertEqual(server.wait_ended(state["run"])["status"], "done")

    def test_included_files_and_meshes(self):
        (self.folder / "parts").mkdir()
        part, mesh = self.folder / "parts/bob.json", self.folder / "parts/bob.obj"
        tetrahedron = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
        write_model(part, {"bodies": [dict(PENDULUM["bodies"][0], mass=1, position=[1, 0, 0],
                                           shapes=[{"type": "mesh", "file": "bob.obj"}])]})
        save(mesh, tetrahedron.format(0.1))
        write_model(self.model, changed(bodies=[], include=[{"file": "parts/bob.json"}]))
        with self.serve() as server:
            state = server.wait_ended()
            self.assertEqual(state["status"], "done", state)
            self.assertEqual([file["name"] for file in state["files"]], ["", "parts/bob.json", "parts/bob.obj"])
            save(mesh, tetrahedron.format(0.25))
            state = server.wait_ended(state["run"])
            self.assertEqual(state["status"], "done")
            text = part.read_text()
            save(part, text.replace('"mass": 1', '"mass": -1'))
            state = server.wait_ended(state["run"])
            self.assertEqual((state["status"], state["report"]["errors"][0]["file"]), ("invalid", "parts/bob.json"))
            self.assertIn(b'"mass": -1', server.request("GET", "/source/1")[1])
            self.assertEqual(server.request("GET", "/source/2")[0], 404)  # a mesh is no text
            save(part, "{")
            state = server.wait_ended(state["run"])
            self.assertEqual((state["status"], state["report"]["errors"][0]["file"]), ("invalid", "parts/bob.json"))
            save(part, text)
            state = server.wait_ended(state["run"])
            self.assertEqual(state["status"], "done")
            mesh.unlink()
            state = server.wait_ended(state["run"])
            save(mesh, tetrahedron.format(0.1))
            self.assertEqual(server.wait_ended(state["run"])["status"], "done")

    # --- runs ---------------------------------------------------------------------------------------

    def test_change_ends_a_run(self):
        write_model(self.model, changed(simulation={"step": 1e-4, "end": LONG}))
        with self.serve() as server:
            state = server.wait(lambda s: s["status"] == "running" and s["parameters"])
            first = children_of(server.process.pid)
            self.assertEqual(len(first), 1)
            write_model(self.model, PENDULUM)
            state = server.wait_ended(state["run"])
            self.assertEqual((state["status"], state["run"]), ("done", 2))
            self.assertEqual(children_of(server.process.pid), [])
            self.assertFalse(os.path.exists(f"/proc/{first[0]}"))

    def test_long_run_is_followed_and_stopped(self):
        """Progress, a page of the results so far, and the button that stops."""
        write_model(self.model, changed(simulation={"step": 1e-4, "end": LONG, "output": {"step": 0.01}}))
        with self.serve() as server:
            state = server.wait(lambda s: s["view"] is not None)
            self.assertEqual((state["status"], state["view"]["partial"]), ("running", True))
            self.assertEqual(state["view"]["run"], 1)
            self.assertIn(b'id="scene"', server.request("GET", "/view/" + state["view"]["page"])[1])
            shares = [one["share"] for one in server.progress]
            self.assertEqual(shares, sorted(shares))
            self.assertTrue(0.0 < shares[-1] < 1.0)
            server.post("/stop")
            state = server.wait_ended()
            self.assertEqual((state["status"], state["view"]), ("interrupted",
                                                               {"page": "1", "run": 1, "partial": False}))
            self.assertIn(" s of 2000 s", state["report"]["verdict"])
            self.assertEqual(children_of(server.process.pid), [])

    def test_end_while_running(self):
        write_model(self.model, changed(simulation={"step": 1e-4, "end": LONG}))
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.serve() as server:
                server.wait(lambda s: s["status"] == "running" and s["parameters"])
                child = children_of(server.process.pid)
                start = time.monotonic()
                self.assertEqual(server.end(how)[0], 0)
                self.assertLess(time.monotonic() - start, 5.0)
                self.assertFalse(os.path.exists(f"/proc/{child[0]}"))

    def test_crash_of_a_run(self):
        write_model(self.model, changed(simulation={"step": 1e-4, "end": LONG}))
        with self.serve() as server:
            server.wait(lambda s: s["status"] == "running" and s["parameters"])
            os.kill(children_of(server.process.pid)[0], signal.SIGKILL)
            state = server.wait_ended()
            self.assertEqual(state["status"], "crashed")
            self.assertIn("signal 9", state["report"]["message"])
            write_model(self.model, PENDULUM)
            self.assertEqual(server.wait_ended(state["run"])["status"], "done")

    def test_failure_with_results_so_far(self):
        model = changed(forces=[{"type": "force", "name": "pull", "body": "bob", "force": [0, 0, "sqrt(0.1 - t)"]}])
        write_model(self.model, model)
        with self.serve() as server:
            state = server.wait_ended()
            self.assertEqual(state["status"], "failed", state)
            failure = state["report"]["failure"]
            self.assertAlmostEqual(failure["t"], 0.1, delta=0.002)
            self.assertTrue(failure["step"] >= 100 and failure["advice"] and "pull" in failure["where"], failure)
            self.assertEqual(state["view"], {"page": "1", "run": 1, "partial": False})

    def test_run_that_is_watched(self):
        """polhode run --watch: the page follows, and the run is the same as without."""
        result, plain = self.folder / "r.h5", self.folder / "plain.h5"
        for words in ([], ["--out", self.folder / "r.csv"]):
            done = subprocess.run([POLHODE, "run", self.model, "--watch", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--watch: needs --out FILE.h5", done.stderr)
        subprocess.run([POLHODE, "run", self.model, "--out", plain, "-q"], check=True)
        subprocess.run([POLHODE, "run", self.model, "--out", result, "-q", "--watch"], check=True, capture_output=True)
        tables = []
        for file in (plain, result):
            table = file.with_suffix(".csv")
            subprocess.run([POLHODE, "export", file, "bob", "--out", table, "-q"], check=True)
            tables.append(table.read_bytes())
        self.assertEqual(*tables)
        # stopped by the page; the run reports as after Ctrl-C
        write_model(self.model, changed(simulation={"step": 1e-4, "end": LONG, "output": {"step": 0.01}}))
        with Server.follow(POLHODE, self.model, "--out", result) as run:
            state = run.wait(lambda s: s["view"] is not None)
            self.assertEqual((state["status"], state["follows"], state["view"]["partial"]), ("running", True, True))
            self.assertEqual(state["parameters"][0]["value"], 0.5)
            self.assertEqual(listening_sockets(children_of(run.process.pid)[0]), [f"tcp 0100007F:{run.port:04X}"])
            self.assertEqual(listening_sockets(run.process.pid), [])
            self.assertGreater(run.progress[-1]["share"], 0.0)
            self.assertEqual(run.post("/parameters", {"values": {"L": 1}})[0], 403)
            self.assertEqual(run.post("/run")[0], 403)
            self.assertEqual(run.post("/stop")[0], 200)
            state = run.wait(lambda s: s["status"] == "interrupted" and s["view"]["page"] == "1")
            self.assertIn(b'id="scene"', run.request("GET", "/view/1")[1])
            out, err = run.process.communicate(timeout=20)
        self.assertEqual(run.process.returncode, 130)
        self.assertIn("interrupted at t = ", err)
        self.assertIn("interrupted     t = ", out)

    # --- parameters ---------------------------------------------------------------------------------

    def test_parameters(self):
        with self.serve("--param", "m=2.5") as server:
            state = server.wait_ended()
            length, mass, weight = state["parameters"]
            self.assertEqual((length["base"], length["unit"], length["min"], length["max"], length["description"]),
                             (0.5, "m", 0.1, 2.0, "length"))
            self.assertEqual((mass["base"], mass["value"], mass["min"], mass["max"]), (2.5, 2.5, None, None))
            self.assertEqual((weight["expression"], weight["value"]), ("m*9.81", 2.5 * 9.81))
            self.assertNotIn("base", weight)
            server.post("/parameters", {"values": {"m": 4, "L": 1.25}})
            state = server.wait_ended(state["run"])
            self.assertEqual([one["value"] for one in state["parameters"]], [1.25, 4.0, 4 * 9.81])
            self.assertEqual(state["values"], {"L": 1.25, "m": 4.0})
            # what the result records is what was used
            self.folder.joinpath("r.h5").write_bytes(server.request("GET", f"/result/{state['run']}")[1])
            info = json.loads(subprocess.run([POLHODE, "info", self.folder / "r.h5", "--json"], check=True,
                                             capture_output=True).stdout)
            self.assertEqual(info["parameters"], {"L": 1.25, "m": 4.0, "weight": 4 * 9.81})
            # the same again is no run; null takes a value back; out of range is an error of the run
            server.post("/parameters", {"values": {"L": 1.25}})
            server.post("/parameters", {"values": {"m": None}})
            state = server.wait_ended(state["run"])
            self.assertEqual((state["run"], state["values"]), (3, {"L": 1.25}))
            server.post("/parameters", {"values": {"L": 7}})
            state = server.wait_ended(state["run"])
            self.assertEqual(state["status"], "invalid")
            self.assertIn("must not be above its max", json.dumps(state["report"]["errors"]))
            # an edit of the value in the file counts more than the slider, other edits do not
            server.post("/parameters", {"values": {"L": 1.5}})
            state = server.wait_ended(state["run"])
            write_model(self.model, changed(simulation={"step": 1e-3, "end": 0.1}))
            state = server.wait_ended(state["run"])
            self.assertEqual(state["values"], {"L": 1.5})
            write_model(self.model, changed(parameters=dict(PENDULUM["parameters"], L=0.75)))
            state = server.wait_ended(state["run"])
            self.assertEqual((state["values"], state["parameters"][0]["value"]), ({}, 0.75))

    def test_dragging_makes_no_queue(self):
        write_model(self.model, changed(simulation={"step": 2e-4, "end": 2}))
        with self.serve() as server:
            state = server.wait_ended()
            first = state["run"]
            values = [0.5 + 0.01 * i for i in range(1, 61)]
            for value in values:
                self.assertEqual(server.post("/parameters", {"values": {"L": value}, "draft": True})[0], 200)
                time.sleep(0.005)
            server.post("/parameters", {"values": {"L": values[-1]}})
            state = server.wait(lambda s: s["status"] == "done" and s["parameters"][0]["value"] == values[-1])
            self.assertLess(state["run"] - first, 30)
            time.sleep(0.5)
            self.assertEqual((server.state["run"], server.state["status"]), (state["run"], "done"))

    def test_invalid_start(self):
        for words in (["-"], [str(self.model), "--open", "--no-open"], [str(self.model), "--out", "x.h5"], []):
            done = subprocess.run([POLHODE, "serve", *words], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, 2, words)
        # a model that is not there yet may come
        missing = self.folder / "later.json"
        with Server(POLHODE, missing) as server:
            self.assertEqual(server.wait_ended()["status"], "invalid")
            write_model(missing, PENDULUM)
            self.assertEqual(server.wait_ended(1)["status"], "done")


if __name__ == "__main__":
    POLHODE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
