#!/usr/bin/env python3
"""Prints a model file of a chain that hangs from the ground and is let go from a straight line."""
import argparse
import json
import math


def positive(text):
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError("must be a positive number")
    return value


def count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__ + " The links are round rods in a row along x; gravity acts along -z;"
        " revolute joints turn about y. Lengths and masses are those of one link.",
        epilog="example: chain.py --links 50 --joint revolute > chain.json")
    parser.add_argument("--links", type=count, default=20, metavar="N", help="number of links (20)")
    parser.add_argument("--length", type=positive, default=0.1, metavar="M",
                        help="of a link, m (0.1)")
    parser.add_argument("--mass", type=positive, default=0.05, metavar="KG",
                        help="of a link, kg (0.05)")
    parser.add_argument("--radius", type=positive, metavar="M",
                        help="of a link, m (a twentieth of its length)")
    parser.add_argument("--joint", choices=["spherical", "revolute"], default="spherical",
                        help="type of all joints (spherical)")
    parser.add_argument("--angle", type=float, default=0.0, metavar="DEG",
                        help="of the row below the horizontal, degrees (0)")
    parser.add_argument("--stop", type=float, metavar="M",
                        help="x of a wall that the end of the chain bounces off, m (none)")
    parser.add_argument("--stiffness", type=positive, default=1e6, metavar="K",
                        help="of the wall: it pushes with K times the squared depth, N/m^2 (1e6)")
    parser.add_argument("--step", type=positive, default=0.001, metavar="S",
                        help="step size, s (0.001)")
    parser.add_argument("--end", type=positive, default=1.0, metavar="S", help="end time, s (1)")
    return parser.parse_args()


def chain(options):
    """The model as a dictionary in the order of docs/model-format.md."""
    n, length, mass = options.links, options.length, options.mass
    radius = options.radius or length / 20
    along = mass * radius**2 / 2
    across = mass * (3 * radius**2 + length**2) / 12
    angle = math.radians(options.angle)

    def point(distance):
        return [round(x, 12) + 0.0
                for x in (distance * math.cos(angle), 0.0, -distance * math.sin(angle))]

    bodies, joints = [], []
    for i in range(n):
        body = {"name": f"link {i + 1}", "mass": mass,
                "inertia": [float(f"{x:.12g}") for x in (along, across, across)],
                "position": point((i + 0.5) * length)}
        if angle:
            body["rotation"] = {"axis": [0, 1, 0], "angle": angle}
        body["shapes"] = [{"type": "cylinder", "radius": radius, "length": length,
                           "axis": [1, 0, 0]}]
        bodies.append(body)
        joint = {"name": f"joint {i + 1}", "type": options.joint,
                 "bodies": [f"link {i}" if i else "ground", f"link {i + 1}"],
                 "point": point(i * length)}
        if options.joint == "revolute":
            joint["axis"] = [0, 1, 0]
        joints.append(joint)
    model = {"name": f"Chain of {n} links", "gravity": [0, 0, -9.81], "bodies": bodies}
    if options.stop is not None:
        model["name"] += " and a stop"
        model["markers"] = [{"name": "end", "body": f"link {n}", "position": [length / 2, 0, 0]}]
    model["joints"] = joints
    if options.stop is not None:
        model["forces"] = [{"name": "stop", "type": "force", "marker": "end",
                            "force": [f"{options.stiffness:g}*depth^2", 0, 0]}]
        model["variables"] = [
            {"name": "depth", "expression": f"max(0, {options.stop:g} - marker.end.position.x)"}]
    model["simulation"] = {"step": options.step, "end": options.end}
    return model


def write(model):
    """Prints the model with one body or joint a line."""
    parts = []
    for key, value in model.items():
        if isinstance(value, list) and isinstance(value[0], dict):
            lines = ",\n".join("    " + json.dumps(item) for item in value)
            parts.append(f'  "{key}": [\n{lines}\n  ]')
        else:
            parts.append(f'  "{key}": {json.dumps(value)}')
    print("{\n" + ",\n".join(parts) + "\n}")


if __name__ == "__main__":
    write(chain(arguments()))
