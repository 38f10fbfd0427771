#!/usr/bin/env python3
"""Drives FMUs of polhode by an importer of its own, for FMI 2.0 and 3.0.

    test_importer.py POLHODE SOURCE_DIR
"""
import csv
import ctypes as C
import json
import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET
import zipfile

POLHODE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
CRANK = SOURCE / "models/holzinger-arnold-gerstmayr/slider_crank.json"
D, U, P, N = C.c_double, C.c_uint, C.c_void_p, C.c_size_t

LOG2 = C.CFUNCTYPE(None, P, C.c_char_p, C.c_int, C.c_char_p, C.c_char_p, C.c_char_p)
LOG3 = C.CFUNCTYPE(None, P, C.c_int, C.c_char_p, C.c_char_p)


class Callbacks(C.Structure):
    _fields_ = [("logger", LOG2), ("allocate", P), ("free", P), ("finished", P), ("environment", P)]


def polhode(*words):
    return subprocess.run([POLHODE, *map(str, words)], capture_output=True, text=True, check=False)


class Fmu:
    """An unpacked archive and its shared object, in a folder of its own: loaded objects must not change."""
    count = 0

    def __init__(self, model, version, *words):
        Fmu.count += 1
        name = pathlib.Path(f"{pathlib.Path(model).stem}_{version}_{Fmu.count}")
        done = polhode("fmu", model, "--fmi", version, "--out", f"{name}.fmu", *words)
        assert done.returncode == 0, done.stderr
        with zipfile.ZipFile(f"{name}.fmu") as archive:
            assert archive.testzip() is None
            archive.extractall(name)
        self.version, self.folder = version, name.resolve()
        root = ET.parse(name / "modelDescription.xml").getroot()
        self.token = root.get("guid" if version == 2 else "instantiationToken")
        kind = root.find("CoSimulation").get("modelIdentifier")
        self.variables = {v.get("name"): v for v in root.find("ModelVariables")}
        self.references = {k: int(v.get("valueReference")) for k, v in self.variables.items()}
        platform = next((name / "binaries").iterdir())
        self.library = C.CDLL(str(platform.resolve() / f"{kind}.so"))

    def call(self, name, *arguments):
        return getattr(self.library, f"fmi{self.version}{name}")(*arguments)


class Instance:
    def __init__(self, fmu, token=None):
        self.fmu, self.messages = fmu, []
        token = (token or fmu.token).encode()
        resources = fmu.folder / "resources"
        make = getattr(fmu.library, "fmi2Instantiate" if fmu.version == 2 else "fmi3InstantiateCoSimulation")
        make.restype = P
        if fmu.version == 2:
            self.log = LOG2(lambda e, n, s, c, f, m: self.messages.append(m.decode()))
            self.callbacks = Callbacks(self.log, None, None, None, None)
            self.c = make(b"one", 1, token, resources.as_uri().encode(), C.byref(self.callbacks), 0, 0)
        else:
            self.log = LOG3(lambda e, s, c, m: self.messages.append(m.decode()))
            self.c = make(b"one", token, str(resources).encode(), False, False, False, False, None, N(0), None,
                          self.log, None)

    def call(self, name, *arguments):
        return self.fmu.call(name, P(self.c), *arguments)

    def initialize(self, stop=None):
        given, stop = stop is not None, D(stop or 0)
        if self.fmu.version == 2:
            return (self.call("SetupExperiment", 0, D(0), D(0), int(given), stop)
                    or self.call("EnterInitializationMode") or self.call("ExitInitializationMode"))
        return (self.call("EnterInitializationMode", C.c_bool(False), D(0), D(0), C.c_bool(given), stop)
                or self.call("ExitInitializationMode"))

    def step(self, t, h):
        if self.fmu.version == 2:
            return self.call("DoStep", D(t), D(h), 1)
        flags, last = [C.c_bool() for _ in range(3)], D()
        status = self.call("DoStep", D(t), D(h), C.c_bool(True), *map(C.byref, flags), C.byref(last))
        return 2 if status == 0 and flags[1].value else status

    def values(self, names, given=None):
        references = (U * len(names))(*[self.fmu.references[n] for n in names])
        numbers = (D * len(names))(*(given or []))
        what = ("Set" if given else "Get") + ("Real" if self.fmu.version == 2 else "Float64")
        extra = [] if self.fmu.version == 2 else [N(len(names))]
        status = self.call(what, references, N(len(names)), numbers, *extra)
        return status if given else (status, list(numbers))

    def get(self, names):
        status, numbers = self.values(names)
        assert status == 0, self.messages
        return numbers

    def state(self, verb, *arguments):
        return self.call(verb + ("FMUstate" if self.fmu.version == 2 else "FMUState"), *arguments)

    def free(self):
        self.fmu.library[f"fmi{self.fmu.version}FreeInstance"](P(self.c))


def rows(model, *words):
    done = polhode("run", model, "--out", "run.csv", "--quiet", *words)
    assert done.returncode == 0, done.stderr
    lines = [x for x in pathlib.Path("run.csv").read_text(encoding="utf-8").splitlines() if x[0] != "#"]
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]


PUSHED = {
    "name": "pushed", "gravity": [0, 0, 0], "parameters": {"m": 2.0},
    "variables": [{"name": "push", "expression": "0", "input": True, "unit": "N"}],
    "bodies": [{"name": "box", "mass": "m", "inertia": [1, 1, 1]}],
    "forces": [{"name": "thrust", "type": "force", "body": "box", "force": ["push", "0", "0"]}],
    "simulation": {"method": "geom1", "step": 0.01, "end": 1},
}


class Importer(unittest.TestCase):
    def test_slider_crank(self):
        """Two instances, one with steps of 10 ms, have the bits of a run."""
        run = rows(CRANK)
        for version in (2, 3):
            fmu = Fmu(CRANK, version)
            names = [n for n in fmu.references if n != "time"]
            self.assertEqual(set(names), set(run[0]) - {"t"})
            fine, coarse = Instance(fmu), Instance(fmu)
            self.assertEqual(fine.initialize(2.0), 0, fine.messages)
            self.assertEqual(coarse.initialize(), 0, coarse.messages)
            t = 0.0
            for k in range(300):
                self.assertEqual(fine.get(names), [run[k][n] for n in names])
                if k % 10 == 0:
                    self.assertEqual(coarse.get(names), [run[k][n] for n in names])
                    self.assertEqual(coarse.step(k * 0.001, 0.01), 0, coarse.messages)
                self.assertEqual(fine.step(t, 0.001), 0, fine.messages)
                t += 0.001
            fine.free()
            coarse.free()

    def test_states(self):
        run = rows(CRANK)
        for version in (2, 3):
            fmu = Fmu(CRANK, version, "--outputs", "slider.position")
            names = [f"slider.position.{x}" for x in "xyz"]
            one, two = Instance(fmu), Instance(fmu)
            self.assertEqual((one.initialize(), one.step(0, 0.05)), (0, 0))
            state, size = P(), N()
            self.assertEqual(one.state("Get", C.byref(state)), 0, one.messages)
            self.assertEqual(one.state("Set", state), 0, one.messages)
            self.assertEqual(one.step(0.05, 0.05), 0)
            self.assertEqual(one.get(names), [run[100][n] for n in names])
            self.assertEqual(one.state("Set", state), 0, one.messages)
            self.assertEqual(one.get(names), [run[50][n] for n in names])
            word = "FMUstate" if version == 2 else "FMUState"
            self.assertEqual(one.call(f"Serialized{word}Size", state, C.byref(size)), 0)
            data = (C.c_char * size.value)()
            self.assertEqual(one.call(f"Serialize{word}", state, data, size), 0)
            other = P()
            verb = "DeSerialize" if version == 2 else "Deserialize"
            self.assertNotEqual(two.call(verb + word, data, N(20), C.byref(other)), 0)
            self.assertEqual(two.call(verb + word, data, size, C.byref(other)), 0, two.messages)
            self.assertEqual(two.state("Set", other), 0, two.messages)
            self.assertEqual(two.step(0.05, 0.05), 0)
            self.assertEqual(two.get(names), [run[100][n] for n in names])
            one.state("Free", C.byref(state))
            two.state("Free", C.byref(other))
            one.free()
            two.free()

    def test_inputs_and_parameters(self):
        pathlib.Path("pushed.json").write_text(json.dumps(PUSHED), encoding="utf-8")
        for version in (2, 3):
            fmu = Fmu("pushed.json", version)
            i = Instance(fmu)
            self.assertEqual(i.get(["push", "parameters.m"]), [0, 2])
            self.assertEqual(i.values(["push", "parameters.m"], [6.0, 3.0]), 0, i.messages)
            self.assertEqual(i.initialize(1.0), 0, i.messages)
            self.assertEqual(i.step(0, 0.5), 0)
            expected = rows("pushed.json", "--param", "m=3", "--set", "variables.push.expression=\"6\"")[50]
            self.assertEqual(i.get(["box.velocity.x"]), [expected["box.velocity.x"]])
            self.assertAlmostEqual(i.get(["box.velocity.x"])[0], 1.0, 12)
            self.assertEqual(i.values(["push"], [0.0]), 0, i.messages)
            self.assertNotEqual(i.values(["parameters.m"], [1.0]), 0)
            self.assertNotEqual(i.values(["box.velocity.x"], [1.0]), 0)
            self.assertNotEqual(i.values(["push"], [float("nan")]), 0)
            self.assertEqual(i.step(0.5, 0.4), 0)
            self.assertLess(abs(i.get(["box.velocity.x"])[0] - 1.0), 0.03)
            self.assertEqual(i.call("Reset"), 0)
            self.assertEqual(i.get(["push", "parameters.m"]), [0, 2])
            i.free()

    def test_force_as_input(self):
        model = {**PUSHED, "variables": [], "forces": [
            {"name": "thrust", "type": "force", "body": "box", "force": [1, 0, 0]}]}
        pathlib.Path("thrust.json").write_text(json.dumps(model), encoding="utf-8")
        i = Instance(Fmu("thrust.json", 2, "--inputs", "thrust.x"))
        self.assertEqual(i.values(["thrust.x"], [3.0]), 0, i.messages)
        self.assertEqual((i.initialize(), i.step(0, 1)), (0, 0))
        self.assertAlmostEqual(i.get(["box.velocity.x"])[0], 2.0, 12)
        i.free()

    def test_wrong_calls(self):
        for version in (2, 3):
            fmu = Fmu(CRANK, version, "--outputs", "slider")
            wrong = Instance(fmu, "another")
            self.assertIsNone(wrong.c)
            self.assertIn("token", wrong.messages[0])
            i = Instance(fmu)
            self.assertEqual(i.step(0, 0.1), 3)
            self.assertEqual(i.initialize(), 0)
            self.assertEqual(i.step(0.1, 0.1), 3)
            self.assertEqual(i.step(0, -0.1), 3)
            self.assertIn("positive", i.messages[-1])
            self.assertEqual(i.step(0, 0.1), 0)
            self.assertEqual(i.call("Terminate"), 0)
            self.assertEqual(i.step(0.1, 0.1), 3)
            i.free()
        for words in (["--outputs", "sliderr"], ["--inputs", "nothing"], ["--fmi", "4"]):
            done = polhode("fmu", CRANK, "--out", "wrong.fmu", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words[0], done.stderr)
            self.assertFalse(pathlib.Path("wrong.fmu").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
