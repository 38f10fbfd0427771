#!/usr/bin/env python3
"""Time to accuracy of a flexible pendulum with polhode and, if its Python module is installed, Exudyn.

    python3 bench/peers/flexible_pendulum.py build/release/polhode

A soft rod (0.5 m, 10 mm x 2 mm, E = 1e8 Pa, 1000 kg/m^3), hinged at one end, falls from the horizontal
for 1 s: the rod of Exudyn's example pendulumGeomExactBeam2Dsimple.py.  Both programs have the same
stiffnesses and masses by length and rho_inf = 0.8.  Printed: elements, steps, the largest distance of the
tip from the limit of fine meshes and steps at t = 0.1, 0.2, ..., 1 s, and the least user time of three
runs: of the solver for Exudyn, of the whole process for polhode.  Needs NumPy.
"""
import csv
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

sys.exudynFast = True  # read when Exudyn is imported: without range checks

LENGTH, WIDTH, HEIGHT = 0.5, 0.01, 0.002
YOUNG, POISSON, DENSITY = 1e8, 0.3, 1000.0
AREA, INERTIA, SIDE = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12, HEIGHT * WIDTH**3 / 12
SHEAR = 10 * (1 + POISSON) / (12 + 11 * POISSON) * YOUNG / (2 + 2 * POISSON) * AREA
TORSION = 0.281 * YOUNG / (2 + 2 * POISSON) * WIDTH * HEIGHT**3
END, RHO_INF, GRAVITY, REPEATS = 1.0, 0.8, 9.81, 3
TIMES = np.arange(1, 11) / 10.0


def at_times(t, x):
    return np.array([[np.interp(s, t, x[:, k]) for k in range(2)] for s in TIMES])


# --- polhode


def polhode(program, folder, elements, steps, formulation="so3xr3"):
    """Positions of the tip, and the user time."""
    model = {
        "gravity": [0, -GRAVITY, 0],
        "beams": [{
            "name": "rod", "points": [[0, 0, 0], [LENGTH, 0, 0]], "up": [0, 0, 1], "elements": elements,
            "section": {
                "type": "stiffness",
                "stiffness": [TORSION, YOUNG * SIDE, YOUNG * INERTIA, YOUNG * AREA, SHEAR, SHEAR],
                "mass": DENSITY * AREA,
                "inertia": [DENSITY * (INERTIA + SIDE), DENSITY * SIDE, DENSITY * INERTIA],
            },
        }],
        "joints": [{"name": "hinge", "type": "revolute", "bodies": ["ground", "rod_0"], "point": [0, 0, 0],
                    "axis": [0, 0, 1]}],
        "simulation": {"method": "geom1", "formulation": formulation, "rho_inf": RHO_INF, "end": END,
                       "step": END / steps},
    }
    path, result = folder / "pendulum.json", folder / "pendulum.csv"
    path.write_text(json.dumps(model))
    best = np.inf
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([program, "run", path, "--json"], check=True, capture_output=True)
        best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    subprocess.run([program, "run", path, "--quiet", "--out", result], check=True, capture_output=True)
    with open(result, encoding="utf-8") as lines:
        head, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    x = next(i for i, name in enumerate(head) if name.strip().startswith("marker.rod_last.position.x"))
    values = np.array([[float(row[0]), float(row[x]), float(row[x + 1])] for row in rows])
    return at_times(values[:, 0], values[:, 1:]), best


# --- Exudyn


def exudyn_model(exu, mbs, kind, elements):
    """The nodes: planar cables (ancf), planar or spatial geometrically exact elements."""
    from exudyn import beams, itemInterface as item

    ends = [0, 0, 0], [LENGTH, 0, 0]
    down = [0, -GRAVITY, 0]
    common = {"physicsMassPerLength": DENSITY * AREA, "physicsBendingStiffness": YOUNG * INERTIA,
              "physicsAxialStiffness": YOUNG * AREA}
    if kind == "ancf":
        return beams.GenerateStraightLineANCFCable2D(
            mbs, *ends, elements, item.ObjectANCFCable2D(**common), massProportionalLoad=down,
            fixedConstraintsNode0=[1, 1, 0, 0], fixedConstraintsNode1=[0, 0, 0, 0])[0]
    if kind == "planar":
        element = item.ObjectBeamGeometricallyExact2D(
            physicsCrossSectionInertia=DENSITY * INERTIA, physicsShearStiffness=SHEAR, **common)
        return beams.GenerateStraightBeam(mbs, *ends, elements, element, gravity=down,
                                          fixedConstraintsNode0=[1, 1, 0])[0]
    section = exu.BeamSection()
    section.stiffnessMatrix = np.diag(
        [YOUNG * AREA, SHEAR, SHEAR, TORSION, YOUNG * SIDE, YOUNG * INERTIA])
    section.inertia = DENSITY * np.diag([INERTIA + SIDE, SIDE, INERTIA])
    section.massPerLength = DENSITY * AREA
    part = LENGTH / elements
    nodes = [mbs.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[part * k, 0, 0, 1, 0, 0, 0]))
             for k in range(elements + 1)]
    for k in range(elements):
        mbs.AddObject(item.ObjectBeamGeometricallyExact(nodeNumbers=nodes[k:k + 2], physicsLength=part,
                                                        sectionData=section))
    for k, node in enumerate(nodes):
        weight = GRAVITY * DENSITY * AREA * part * (0.5 if k in (0, elements) else 1.0)
        mbs.AddLoad(item.Force(markerNumber=mbs.AddMarker(item.MarkerNodePosition(nodeNumber=node)),
                               loadVector=[0, -weight, 0]))
    ground = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=mbs.AddObject(item.ObjectGround())))
    first = mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0]))
    mbs.AddObject(item.GenericJoint(markerNumbers=[ground, first], constrainedAxes=[1, 1, 1, 1, 1, 0]))
    return nodes


def exudyn(kind, elements, steps):
    import exudyn as exu
    from exudyn import itemInterface as item

    best = np.inf
    for _ in range(REPEATS):
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        tip = exudyn_model(exu, mbs, kind, elements)[-1]
        sensor = mbs.AddSensor(item.SensorNode(nodeNumber=tip, storeInternal=True,
                                               outputVariableType=exu.OutputVariableType.Position))
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = END
        settings.timeIntegration.generalizedAlpha.spectralRadius = RHO_INF
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.linearSolverType = exu.LinearSolverType.EigenSparse
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = TIMES[0]
        settings.parallel.numberOfThreads = 1
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        mbs.SolveDynamic(settings)
        best = min(best, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before)
    values = mbs.GetSensorStoredData(sensor)
    return at_times(values[:, 0], values[:, 1:3]), best


# --- the table


def print_row(name, elements, steps, tip, seconds, limit):
    error = np.hypot(*(tip - limit).T).max()
    print(f"| {name} | {elements} | {steps} | {error:.1e} | {seconds:.3f} |", flush=True)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        coarse, fine = (polhode(program, folder, n, 8000)[0] for n in (80, 160))
        limit = fine + (fine - coarse) / 3  # of second order
        print("| elements of | number | steps | error, m | user time, s |\n|---|---|---|---|---|")
        for elements in (10, 20, 40, 80):
            for steps in (250, 500, 1000, 2000):
                print_row("polhode", elements, steps, *polhode(program, folder, elements, steps), limit)
    try:
        import exudyn as _  # noqa: F401
    except ImportError:
        print("Exudyn is not installed", file=sys.stderr)
        return
    for kind in ("spatial", "planar", "ancf"):
        for elements in (10, 20, 40, 80):
            for steps in (250, 500, 1000, 2000):
                print_row(f"Exudyn, {kind}", elements, steps, *exudyn(kind, elements, steps), limit)


if __name__ == "__main__":
    main()
