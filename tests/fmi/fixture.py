"""The FMU of tests/fmi/fmu/controller.c as an archive, and a model that uses it."""
import json
import pathlib
import platform
import zipfile

TOKEN = "{5f0c2c1e-test-controller}"
FOLDER = {"x86_64": {2: "linux64", 3: "x86_64-linux"}}.get(
    platform.machine(), {2: f"{platform.machine()}-linux", 3: f"{platform.machine()}-linux"})

# name, type by FMI 2.0 and 3.0, causality; the value reference is the place in the list
VARIABLES = [("angle", "Real", "Float64", "input"), ("rate", "Real", "Float64", "input"),
             ("torque", "Real", "Float64", "output"), ("k", "Real", "Float64", "parameter"),
             ("d", "Real", "Float64", "parameter"), ("ki", "Real", "Float64", "parameter"),
             ("fail_at", "Real", "Float64", "parameter"), ("fail", "Integer", "Int32", "parameter"),
             ("calls", "Integer", "UInt16", "output"), ("enabled", "Boolean", "Boolean", "input"),
             ("sum", "Real", "Float64", "local"), ("small", "Real", "Float32", "input"),
             ("title", "String", "String", "parameter")]


def description(version, token=TOKEN, kind="CoSimulation", flags="", name="2.0", before=""):
    state = "FMUstate" if version == 2 else "FMUState"
    flags = flags or f'canGetAndSet{state}="true" canSerialize{state}="true"'
    what = "guid" if version == 2 else "instantiationToken"
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', before,
             f'<fmiModelDescription fmiVersion="{name if version == 2 else "3.0"}" modelName="test" {what}="{token}">',
             f'<{kind} modelIdentifier="controller" {flags}/>', "<ModelVariables>"]
    for reference, (variable, two, three, causality) in enumerate(VARIABLES):
        initial = ' initial="exact"' if variable == "sum" else ""
        text = f'name="{variable}" valueReference="{reference}" causality="{causality}"{initial}'
        lines.append(f"<ScalarVariable {text}><{two}/></ScalarVariable>" if version == 2 else f"<{three} {text}/>")
    return "\n".join([*lines, "</ModelVariables>", "<ModelStructure/>", "</fmiModelDescription>"])


def pack(path, version, library, text=None, folder=None, more=()):
    """Writes an FMU; more: pairs of names and bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", text if text is not None else description(version))
        if library:
            archive.write(library, f"binaries/{folder or FOLDER[version]}/controller.so")
        for name, data in more:
            archive.writestr(name, data)
    return pathlib.Path(path)


def model(fmu, period=0.01, step=0.001, end=1.0, **more):
    """A pendulum with a motor, which the controller drives."""
    controller = {"name": "pd", "fmu": str(fmu), "period": period,
                  "inputs": {"angle": "hinge.angle", "rate": "2*hinge.rate"}, "outputs": {"torque": "motor"},
                  "parameters": {"k": "5*gain", "d": 0.25}}
    controller.update(more)
    return {"name": "pendulum", "gravity": [0, 0, -9.81], "parameters": {"gain": 2.0},
            "bodies": [{"name": "rod", "mass": 1, "inertia": [0.02, 0.02, 0.001], "position": [0.3, 0, -0.4],
                        "rotation": {"axis": [0, 1, 0], "angle": -0.6435011087932844}}],
            "joints": [{"name": "hinge", "type": "revolute", "bodies": ["ground", "rod"], "point": [0, 0, 0],
                        "axis": [0, 1, 0]}],
            "variables": [{"name": "motor", "expression": "0", "input": True, "unit": "N m"},
                          {"name": "other", "expression": "0", "input": True},
                          {"name": "speed", "expression": "hinge.rate"}],
            "forces": [{"name": "drive", "type": "torque", "body": "rod", "torque": ["0", "motor", "0"]}],
            "controllers": [controller],
            "simulation": {"method": "rattle", "step": step, "end": end}}


def write(path, content):
    pathlib.Path(path).write_text(json.dumps(content), encoding="utf-8")
    return path
