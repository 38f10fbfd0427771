#!/usr/bin/env python3
"""Writes large model files to measure start-up, memory and time per step.

    large_models.py chain N FILE      spherical chain of N links, hanging sideways from the ground
    large_models.py four-bars N FILE  N coupled planar four-bars with hinges (IFToMM benchmark):
                                      2 N + 1 bodies, 3 N of 15 N + 5 constraints are redundant
    large_models.py loops N FILE      N four-bars of their own: 3 N bodies
    large_models.py net N FILE        N x N plates, neighbours connected by ball joints
    large_models.py ring N FILE       closed chain of N links with hinges, as in a chain drive
"""
import json
import math
import sys


def body(name, position, inertia, **more):
    return dict(name=name, mass=1, inertia=inertia, position=position, **more)


def joint(name, kind, a, b, point, axis=None):
    result = dict(name=name, type=kind, bodies=[a, b], point=point)
    if axis:
        result["axis"] = axis
    return result


def chain(n):
    bodies = [body(f"b{i}", [i + 0.5, 0, 0], [0.01, 0.09, 0.09]) for i in range(n)]
    joints = [joint(f"j{i}", "spherical", f"b{i - 1}" if i else "ground", f"b{i}", [i, 0, 0])
              for i in range(n)]
    return bodies, joints


def four_bars(n):
    turn = dict(velocity=[0.5, 0, 0], angular_velocity=[0, 1, 0])
    bodies = [body(f"r{i}", [i, 0, 0.5], [0.08, 0.08, 0.001], **turn) for i in range(n + 1)]
    bodies += [body(f"c{i}", [i + 0.5, 0, 1], [0.001, 0.08, 0.08], velocity=[1, 0, 0])
               for i in range(n)]
    y = [0, 1, 0]
    joints = [joint(f"g{i}", "revolute", "ground", f"r{i}", [i, 0, 0], y) for i in range(n + 1)]
    for i in range(n):
        joints.append(joint(f"a{i}", "revolute", f"r{i}", f"c{i}", [i, 0, 1], y))
        joints.append(joint(f"b{i}", "revolute", f"r{i + 1}", f"c{i}", [i + 1, 0, 1], y))
    return bodies, joints


def loops(n):
    bodies, joints, y = [], [], [0, 1, 0]
    for i in range(n):
        for part in ("p", "q", "c"):
            x = 2 * i + {"p": 0, "q": 1, "c": 0.5}[part]
            if part == "c":
                bodies.append(body(f"c{i}", [x, 0, 1], [0.001, 0.08, 0.08], velocity=[1, 0, 0]))
            else:
                bodies.append(body(f"{part}{i}", [x, 0, 0.5], [0.08, 0.08, 0.001],
                                   velocity=[0.5, 0, 0], angular_velocity=[0, 1, 0]))
        joints += [joint(f"g{i}", "revolute", "ground", f"p{i}", [2 * i, 0, 0], y),
                   joint(f"h{i}", "revolute", "ground", f"q{i}", [2 * i + 1, 0, 0], y),
                   joint(f"a{i}", "revolute", f"p{i}", f"c{i}", [2 * i, 0, 1], y),
                   joint(f"b{i}", "revolute", f"q{i}", f"c{i}", [2 * i + 1, 0, 1], y)]
    return bodies, joints


def net(n):
    bodies = [body(f"b{i}_{k}", [i, k, 0], [0.01, 0.01, 0.02]) for i in range(n) for k in range(n)]
    joints = [joint(f"g{i}", "spherical", "ground", f"b{i}_{k}", [i, k, 0])
              for i, k in ((0, 0), (n - 1, 0))]
    for i in range(n):
        for k in range(n):
            if i + 1 < n:
                joints.append(joint(f"x{i}_{k}", "spherical", f"b{i}_{k}", f"b{i + 1}_{k}",
                                    [i + 0.5, k, 0]))
            if k + 1 < n:
                joints.append(joint(f"y{i}_{k}", "spherical", f"b{i}_{k}", f"b{i}_{k + 1}",
                                    [i, k + 0.5, 0]))
    return bodies, joints


def ring(n):
    radius, half = 0.5 / math.sin(math.pi / n), math.pi / n
    bodies, joints = [], []
    inner = radius * math.cos(half)
    for i in range(n):
        at, turn = 2 * half * i, 2 * half * i
        bodies.append(body(f"b{i}", [inner * math.cos(at), 0, inner * math.sin(at)],
                           [0.08, 0.08, 0.001], rotation=dict(axis=[0, 1, 0], angle=-turn)))
        before = at - half
        joints.append(joint(f"j{i}", "revolute", f"b{i - 1 if i else n - 1}", f"b{i}",
                            [radius * math.cos(before), 0, radius * math.sin(before)], [0, 1, 0]))
    joints.append(joint("held", "revolute", "ground", "b0", [inner, 0, 0], [0, 1, 0]))
    return bodies, joints


def main():
    kinds = dict(chain=chain, loops=loops, net=net, ring=ring)
    kinds["four-bars"] = four_bars
    if len(sys.argv) != 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    bodies, joints = kinds[sys.argv[1]](int(sys.argv[2]))
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        json.dump(dict(gravity=[0, 0, -9.81], bodies=bodies, joints=joints,
                       simulation=dict(step=1e-3, end=10)), file, indent=0)


main()
