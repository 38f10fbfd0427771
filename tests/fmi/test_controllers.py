#!/usr/bin/env python3
"""FMUs as controllers of models, by the command: right ones, broken ones, failing ones.

    test_controllers.py POLHODE SOURCE_DIR CONTROLLER.so BROKEN.so
"""
import csv
import json
import math
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time
import unittest
import zipfile

POLHODE, SOURCE, LIBRARY, BROKEN = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
sys.path.insert(0, str(SOURCE / "tests/fmi"))
from fixture import FOLDER, TOKEN, VARIABLES, description, model, pack, write  # noqa: E402

TEMPORARY = pathlib.Path("temporary").resolve()
TEMPORARY.mkdir(exist_ok=True)
ENVIRONMENT = {**os.environ, "TMPDIR": str(TEMPORARY)}


def polhode(*words):
    return subprocess.run([POLHODE, *map(str, words)], capture_output=True, text=True, check=False, env=ENVIRONMENT)


def rows(path):
    lines = [x for x in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if x[0] != "#"]
    return list(csv.DictReader(lines))


class Controllers(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(list(TEMPORARY.iterdir()), [])

    def run_model(self, content, *words, name="model.json", out="run.csv", status=0):
        done = polhode("run", write(name, content), "--out", out, "--quiet", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return rows(out) if out.endswith(".csv") and status == 0 else done.stderr

    def refused(self, content, *texts, name="model.json", command="check"):
        """A model that check and run refuse, with these texts, by exit status 2."""
        write(name, content)
        for verb in {command, "run"}:
            done = polhode(verb, name)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            for text in texts:
                self.assertIn(text, done.stderr)

    def test_law(self):
        """Each output is the law of the inputs of its sample, and is held until the next."""
        for version in (2, 3):
            fmu = pack(f"law{version}.fmu", version, LIBRARY)
            for row in self.run_model(model(fmu)):
                k = round(float(row["t"]) / 0.001)
                if k % 10 == 0:
                    angle, rate = float(row["pd_angle"]), float(row["pd_rate"])
                    self.assertEqual(rate, 2 * float(row["hinge.rate"]))
                    law = -10.0 * angle - 0.25 * rate - 0.0 * 0.0
                self.assertEqual(float(row["motor"]), law)

    def test_versions_agree(self):
        more = {"inputs": {"angle": "hinge.angle", "rate": "speed", "enabled": "t < 0.55"},
                "outputs": {"torque": "motor", "calls": "other"},
                "parameters": {"k": 10, "ki": 0.5, "fail": 6, "fail_at": 0.3, "sum": 0.125, "small": 0.1}}
        two, three = (self.run_model(model(pack(f"agree{v}.fmu", v, LIBRARY), **more)) for v in (2, 3))
        self.assertEqual(two, three)
        self.assertEqual([float(two[i]["other"]) for i in (0, 9, 10, 1000)], [0, 0, 1, 100])
        self.assertEqual(float(two[0]["motor"]), -10.0 * float(two[0]["hinge.angle"]) - 0.5 * 0.125)
        self.assertNotEqual(float(two[540]["motor"]), 0.0)
        self.assertEqual(float(two[560]["motor"]), 0.0)
        self.assertNotIn("pd_rate", two[0])

    def test_inputs_at(self):
        """The integral of the FMU has the inputs of the ends, or of the starts of its steps."""
        for when in ("end", "start"):
            table = self.run_model(model(pack("at.fmu", 2, LIBRARY), inputs_at=when,
                                         parameters={"k": 0, "ki": 1}, inputs={"angle": "hinge.angle"}))
            samples, total = [float(table[i]["hinge.angle"]) for i in range(0, 1000, 10)], 0.0
            for i in range(1, 100):
                h = i * 0.01 - (i - 1) * 0.01
                total += samples[i if when == "end" else i - 1] * h
                self.assertAlmostEqual(float(table[10 * i]["motor"]), -total, delta=1e-14)

    def test_restart(self):
        for version in (2, 3):
            fmu = pack(f"restart{version}.fmu", version, LIBRARY)
            content = model(fmu, parameters={"k": 5, "ki": 3})
            whole = self.run_model(content)
            done = polhode("run", "model.json", "--out", "half.h5", "-q", "--checkpoint-at", "0.435", "--checkpoint",
                           "half.state")
            self.assertEqual(done.returncode, 0, done.stderr)
            rest = self.run_model(content, "--from", "half.h5", "--at", "0.435")
            self.assertEqual(rest, whole[435:])
            later = self.run_model(content, "--end", "1.2", out="later.csv")
            rest = self.run_model(content, "--from", "half.state", "--end", "1.2")
            self.assertEqual(rest, later[len(later) - len(rest):])
            self.assertLess(len(rest), 300)
            # another gain of the FMU is another controller
            other = model(fmu, parameters={"k": 6, "ki": 3})
            write("model.json", other)
            done = polhode("run", "model.json", "--from", "half.h5")
            self.assertEqual(done.returncode, 2)
            self.assertIn("controller 'pd' is not the same", done.stderr)
        text = description(2, flags='canGetAndSetFMUstate="true"')
        content = model(pack("unsaved.fmu", 2, LIBRARY, text))
        self.run_model(content, out="unsaved.h5")
        done = polhode("run", "model.json", "--checkpoint", "unsaved.state")
        self.assertEqual(done.returncode, 2)
        self.assertIn("canSerializeFMUState", done.stderr)
        self.assertFalse(pathlib.Path("unsaved.state").exists())

    def test_failures(self):
        for version in (2, 3):
            fmu = pack(f"fails{version}.fmu", version, LIBRARY)
            for fail, text in ((1, f"fmi{version}Discard"), (2, "the gain has burnt through at 0.5"),
                               (3, f"fmi{version}Fatal"), (4, "'motor' of the controller is not a finite number"),
                               (5, "has ended its run")):
                content = model(fmu, parameters={"fail": fail, "fail_at": 0.5})
                message = self.run_model(content, status=1)
                self.assertIn(text, message)
                self.assertIn("controller 'pd'", message)
                self.assertIn("when:   t = 0.5 s, after step 500", message)
                self.assertEqual(len(rows("run.csv")), 500)
        message = self.run_model(model(fmu, inputs={"enabled": "0.5"}), status=1)
        self.assertIn("must be a whole number from 0 to 1", message)

    def test_wrong_bindings(self):
        fmu = pack("wrong.fmu", 2, LIBRARY)
        self.refused(model(fmu, inputs={"angel": "t"}), "controllers[0].inputs.angel", "angle", "no such variable")
        self.refused(model(fmu, inputs={"torque": "t"}), "must be an input of the FMU", "causality output")
        self.refused(model(fmu, outputs={"k": "motor"}), "must be an output of the FMU")
        self.refused(model(fmu, parameters={"torque": 1}), "controllers[0].parameters.torque")
        self.refused(model(fmu, parameters={"title": 1}), "type String")
        self.refused(model(fmu, parameters={"angle": 1}), "beside the input")
        self.refused(model(fmu, outputs={"torque": "moter"}), "\"input\": true", "motor")
        self.refused(model(fmu, outputs={"torque": "speed"}), "\"input\": true")
        self.refused(model(fmu, outputs={"torque": "motor", "calls": "motor"}), "must not be set twice")
        self.refused(model(fmu, outputs={}), "at least one output")
        self.refused(model(fmu, inputs={"angle": "hinge.angel"}), "hinge.angle")
        self.refused(model(fmu, inputs={"angle": 3}), "must be an expression")
        self.refused(model(fmu, period=0), "positive")
        self.refused(model(fmu, parameters={"k": "gian"}), "gain")
        self.refused(model(fmu, name="motor", inputs={"angle": "t"}, outputs={"torque": "none"}), "none")
        content = model(fmu)
        content["controllers"].append({**content["controllers"][0]})
        self.refused(content, "must be unique", "must not be set twice")
        content = model(fmu)
        content["variables"].append({"name": "pd_angle", "expression": "1"})
        self.refused(content, "pd_angle")

    def test_two_controllers(self):
        """Two instances of one FMU do not share their states."""
        fmu = pack("two.fmu", 3, LIBRARY)
        content = model(fmu, outputs={"calls": "motor"})
        content["controllers"].append({"name": "other", "fmu": str(fmu), "period": 0.05, "outputs": {"calls": "other"}})
        last = self.run_model(content)[-1]
        self.assertEqual((last["motor"], last["other"]), ("100", "20"))
        once = pack("once.fmu", 3, LIBRARY, description(3, flags='canBeInstantiatedOnlyOncePerProcess="true"'))
        self.run_model(model(once))
        for controller in content["controllers"]:
            controller["fmu"] = str(once)
        self.assertIn("only once per process", self.run_model(content, status=2))

    def test_broken(self):
        def broken(name, *texts, command="check", **more):
            version = more.pop("version", 2)
            library = more.pop("library", LIBRARY)
            self.refused(model(pack(name, version, library, **more)), *texts, command=command)
        self.refused(model("missing.fmu"), "controllers[0].fmu", "No such file")
        for version in (2, 3):
            broken("no_step.fmu", f"has no function fmi{version}DoStep", version=version, library=BROKEN, command="run")
            broken("token.fmu", "refuses to be instantiated", "the token is another one", version=version,
                   text=description(version, token="{another}"), command="run")
            broken("exchange.fmu", "model exchange only", version=version,
                   text=description(version, kind="ModelExchange"))
            broken("windows.fmu", "has binaries for win64", FOLDER[version], version=version, folder="win64")
            broken("sources.fmu", "source code only", version=version, library=None, more=[("sources/a.c", "int a;")])
        broken("version.fmu", "'1.0'", text=description(2, name="1.0"))
        broken("tool.fmu", "needsExecutionTool", text=description(2, flags='needsExecutionTool="true"'))
        broken("empty.fmu", "", text="")
        broken("no_xml.fmu", "no valid XML", text="<fmiModelDescription")
        broken("other.fmu", "not that of an FMU", text="<robot/>")
        laughs = "".join(f'<!ENTITY e{i} "{"&e%d;" % (i - 1) * 10}">' for i in range(1, 12))
        bomb = description(2, before=f'<!DOCTYPE x [<!ENTITY e0 "ha">{laughs}]>').replace('"test"', '"&e11;"')
        broken("bomb.fmu", "", text=bomb)
        broken("entity.fmu", "DOCTYPE", text=description(2, before='<!DOCTYPE x [<!ENTITY e SYSTEM "/etc/passwd">]>'))
        broken("no_object.fmu", "cannot be loaded", library=None, command="run",
               more=[(f"binaries/{FOLDER[2]}/controller.so", b"no shared object")])

    def test_archives(self):
        for name in ("../evil", "/evil", "resources/../../evil", "a\\..\\evil", "C:evil", "./x", "a//b"):
            fmu = pack("path.fmu", 2, LIBRARY, more=[(name.replace("\\", "_").replace("//", "__"), b"x")])
            if "\\" in name or "//" in name:  # zipfile would change them
                data = fmu.read_bytes().replace(name.replace("\\", "_").replace("//", "__").encode(), name.encode())
                fmu.write_bytes(data)
            self.refused(model(fmu), "leads out of its folder")
        link = zipfile.ZipInfo("resources/link")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        self.refused(model(pack("link.fmu", 2, LIBRARY, more=[(link, "/etc/passwd")])), "is a link")
        whole = pack("whole.fmu", 2, LIBRARY).read_bytes()
        for size in (0, 3, 100, len(whole) // 2, len(whole) - 30, len(whole) - 1):
            pathlib.Path("cut.fmu").write_bytes(whole[:size])
            self.refused(model("cut.fmu"), "no ZIP archive")
        for place in (60, 200):  # inside the description
            data = bytearray(whole)
            data[place] ^= 0x55
            pathlib.Path("damaged.fmu").write_bytes(data)
            self.refused(model("damaged.fmu"), "is damaged")
        # a file that announces more than it may
        data = bytearray(pack("large.fmu", 2, LIBRARY, more=[("resources/large", b"0" * 1000)]).read_bytes())
        place = data.rindex(b"resources/large")
        data[place - 22:place - 18] = (0x7fffffff).to_bytes(4, "little")
        pathlib.Path("large.fmu").write_bytes(data)
        self.refused(model("large.fmu"), "too large")
        data[place - 22:place - 18] = (2000).to_bytes(4, "little")
        pathlib.Path("large.fmu").write_bytes(data)
        self.refused(model("large.fmu"), "'resources/large' in it is damaged", command="run")

    def test_nothing_executed(self):
        """check reads a shared object that cannot be loaded, and leaves no file."""
        fmu = pack("unread.fmu", 2, None, more=[(f"binaries/{FOLDER[2]}/controller.so", b"not loaded")])
        done = polhode("check", write("unread.json", model(fmu)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("controller      pd, FMU unread.fmu every 0.01 s", done.stdout)
        done = polhode("check", "unread.json", "--json")
        self.assertEqual(json.loads(done.stdout)["controllers"][0]["outputs"], {"torque": "motor"})

    def test_resources_and_folders(self):
        """Paths are relative to the model, or to the file that has the controller; prefixes apply."""
        pathlib.Path("sub").mkdir(exist_ok=True)
        fmu = pack("sub/inner.fmu", 3, LIBRARY, more=[("resources/data/x.txt", b"1"), ("documentation/a", b"2")])
        content = model("inner.fmu")
        alone = self.run_model(content, name="sub/part.json")
        outer = {"include": [{"file": "sub/part.json", "prefix": "left_", "parameters": {"gain": 2}}],
                 "gravity": content["gravity"], "simulation": content["simulation"]}
        table = self.run_model(outer, name="outer.json")
        self.assertEqual([r["left_motor"] for r in table], [r["motor"] for r in alone])
        self.assertIn("left_pd_angle", table[0])
        self.assertEqual(fmu.name, "inner.fmu")
        done = subprocess.run([POLHODE, "run", "-", "-q"], input=json.dumps(model("sub/inner.fmu")), text=True,
                              capture_output=True, check=False, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_own_fmu(self):
        """A filter that polhode has written as an FMU: first-order states with an input."""
        part = {"name": "filter", "bodies": [{"name": "box", "mass": 1, "inertia": [1, 1, 1]}],
                "variables": [{"name": "u", "expression": "0", "input": True}, {"name": "y", "expression": "3*x"}],
                "states": [{"name": "x", "rate": "(u - x)/0.05"}],
                "simulation": {"method": "geom1", "step": 0.002, "end": 1}}
        results = []
        for version in (2, 3):
            done = polhode("fmu", write("filter.json", part), "--fmi", version, "--out", f"filter{version}.fmu")
            self.assertEqual(done.returncode, 0, done.stderr)
            content = model(f"filter{version}.fmu", inputs={"u": "-hinge.angle"}, outputs={"y": "motor"}, parameters={})
            table = self.run_model(content)
            results.append(table)
            # the state follows (u - x)/T with u of the end of each step
            x = 0.0
            for k in range(10, 1000, 10):
                x += (-float(table[k]["hinge.angle"]) - x) * (1 - 2.718281828459045 ** -0.2)
                self.assertAlmostEqual(float(table[k]["motor"]), 3 * x, delta=0.03)
            self.assertGreater(abs(3 * x), 0.05)
            done = polhode("run", "model.json", "--out", "own.h5", "-q", "--checkpoint-at", "0.52")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.run_model(content, "--from", "own.h5", "--at", "0.52"), table[520:])
        self.assertEqual(results[0], results[1])

    def test_commands(self):
        fmu = pack("commands.fmu", 2, LIBRARY)
        write("model.json", model(fmu))
        for words, status, text in ((["fmu", "model.json", "--out", "out.fmu"], 2, "cannot contain other FMUs"),
                                    (["converge", "model.json"], 2, "convergence study"),
                                    (["linearize", "model.json"], 0, "controllers are not part")):
            done = polhode(*words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(text, done.stderr)
        pathlib.Path("commands.fmu").replace("commands.h5")
        write("named.json", model("commands.h5"))
        before = pathlib.Path("commands.h5").read_bytes()
        done = polhode("run", "named.json", "--out", "commands.h5")
        self.assertEqual((done.returncode, pathlib.Path("commands.h5").read_bytes()), (2, before), done.stderr)
        pathlib.Path("commands.h5").replace("commands.fmu")
        done = polhode("run", "model.json")
        self.assertIn("accuracy not known: the run has controllers", done.stdout)

    def test_sweep(self):
        fmu = pack("sweep.fmu", 3, LIBRARY)
        write("sub.json", model(fmu))
        write("study.json", {"model": "sub.json", "vary": {"parameters.gain": {"values": [1, 2, 3]}},
                             "responses": [{"name": "end", "signal": "hinge.angle", "reduce": "final"}]})
        pathlib.Path("study.h5").unlink(missing_ok=True)
        done = polhode("sweep", "study.json", "--out", "study.h5", "--jobs", "2", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = done.stdout
        expected = [self.run_model(model(fmu), "--param", f"gain={g}")[-1]["hinge.angle"] for g in (1, 2, 3)]
        self.assertEqual(len(set(expected)), 3)
        response = json.loads(report)["responses"][0]
        numbers = [float(x) for x in expected]
        self.assertEqual((response["min"], response["max"]), (min(numbers), max(numbers)))

    def test_signals(self):
        """A run and a study end within a moment, and leave no folder, which tearDown looks for."""
        write("long.json", model(pack("long.fmu", 3, LIBRARY), end=1e5))
        write("long_study.json", {"model": "long.json", "vary": {"parameters.gain": {"values": [1, 2, 3]}},
                                  "responses": [{"name": "end", "signal": "hinge.angle", "reduce": "final"}]})
        for words in (["run", "long.json", "--out", "long.h5", "-q"],
                      ["sweep", "long_study.json", "--out", "long_study.h5", "--jobs", "2", "-q"]):
            for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
                process = subprocess.Popen([POLHODE, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True)
                until = time.monotonic() + 60
                while not list(TEMPORARY.rglob("controller.so")) and time.monotonic() < until:
                    time.sleep(0.01)
                time.sleep(0.1)
                process.send_signal(number)
                _, complaint = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 128 + number, complaint)
                self.assertEqual(list(TEMPORARY.iterdir()), [])

    def test_example(self):
        """The commands of docs/fmi.md."""
        for name in ("lag", "motor"):
            write(f"{name}.json", json.loads((SOURCE / f"examples/fmu/{name}.json").read_text(encoding="utf-8")))
        done = polhode("fmu", "lag.json", "--out", "lag.fmu")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = polhode("run", "motor.json", "--out", "motor.csv", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        last = rows("motor.csv")[-1]
        # at rest: the torque of the motor, 4 times its command, carries the weight
        angle = float(last["hinge.angle"])
        self.assertAlmostEqual(20 * (1 - angle), 9.81 * 0.5 * math.sin(angle), delta=1e-4)


if __name__ == "__main__":
    assert TOKEN and VARIABLES
    unittest.main(argv=sys.argv[:1])
