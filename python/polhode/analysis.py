"""Results of analyses of one state: equilibria, modes, linearised equations."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Equilibrium:
    """A static equilibrium, and whether it is stable."""
    bodies: dict[str, Any]  #: `BodyState` of each body
    load_steps: int
    iterations: int
    residual: float         #: largest force without balance, as a fraction of the largest force
    freedoms: int
    unstable: int           #: number of unstable motions
    neutral: int            #: number of motions that nothing resists
    least: float            #: the smallest eigenvalue of the tangent stiffness by mass, 1/s^2
    flutter: float          #: frequency of flutter, Hz; 0 if there is none
    softest: str            #: the largest part of its motion, in words

    @property
    def stable(self) -> bool:
        return self.unstable == 0 and self.neutral == 0

    @classmethod
    def _of(cls, opened: Any, report: dict[str, Any], bodies: list[bytes]) -> "Equilibrium":
        from .simulation import BodyState
        return cls(bodies={name: BodyState._of(body) for name, body in zip(opened.names("bodies"), bodies)}, **report)


@dataclass
class Mode:
    """A mode w(t) = Re(shape exp(s t)): increments of the configuration, six for each rigid body."""
    eigenvalue: complex  #: s, rad/s
    frequency: float     #: Hz
    damping: float       #: damping ratio
    shape: np.ndarray    #: complex, one number for each velocity: (rotation in body axes, displacement) of each body

    @classmethod
    def _of(cls, opened: Any, re: float, im: float, frequency: float, damping: float, shape_re: bytes, shape_im: bytes) -> "Mode":
        return cls(complex(re, im), frequency, damping, np.frombuffer(shape_re) + 1j * np.frombuffer(shape_im))


@dataclass
class LinearModel:
    """x' = A x + B u, y = C x + D u for changes of states, inputs and outputs."""
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: list[str]
    inputs: list[str]
    outputs: list[str]

    @classmethod
    def _of(cls, found: dict[str, Any]) -> "LinearModel":
        n, m, p = (len(found[key]) for key in ("states", "inputs", "outputs"))
        shapes = {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m)}
        matrices = {key: np.frombuffer(found[key]).reshape(shape, order="F").copy() for key, shape in shapes.items()}
        return cls(**matrices, states=found["states"], inputs=found["inputs"], outputs=found["outputs"])
