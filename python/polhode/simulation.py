"""Simulations: steps, views of the state, inputs, recorded runs."""
from __future__ import annotations

import json
import os
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from . import _core
from .errors import ModelError, SimulationError
from .model import Model
from .result import Result

_BLOCK_SIZE = 1 << 22  # numbers, at most, that a run records before it takes the lock of the interpreter


@dataclass
class BodyState:
    """Position, rotation and velocities of a body."""
    position: np.ndarray                 #: of the centre of mass, m
    quaternion: np.ndarray               #: (w, x, y, z), w >= 0
    rotation: np.ndarray                 #: 3 x 3, body to global axes
    velocity: np.ndarray                 #: of the centre of mass, global axes, m/s
    velocity_body: np.ndarray            #: the same in body axes
    angular_velocity: np.ndarray         #: body axes, rad/s
    angular_velocity_global: np.ndarray  #: global axes

    @classmethod
    def _of(cls, numbers: bytes) -> "BodyState":
        a = np.frombuffer(numbers)
        return cls(a[0:3], a[3:7], a[7:16].reshape(3, 3), a[16:19], a[19:22], a[22:25], a[25:28])


class Motion:
    """The motion of a body as a force sees it.  The arrays are views that change from call to call."""
    position: np.ndarray          #: of the centre of mass, m
    rotation: np.ndarray          #: 3 x 3, body to global axes
    velocity: np.ndarray          #: global axes, m/s
    angular_velocity: np.ndarray  #: body axes, rad/s
    other: "Motion"               #: of the other body

    __slots__ = ("position", "rotation", "velocity", "angular_velocity", "other")

    def _bind(self, array: Any) -> None:
        numbers = np.asarray(array)
        self.other = Motion()
        for motion, a in ((self, numbers[:18]), (self.other, numbers[18:])):
            motion.position, motion.rotation = a[0:3], a[3:12].reshape(3, 3)
            motion.velocity, motion.angular_velocity = a[12:15], a[15:18]


class State:
    """The state in the coordinates of the formulation, without copies: the arrays are valid until the next step."""

    def __init__(self, core: Any):
        self._core = core

    @property
    def t(self) -> float:
        return self._core.now()[0]

    @property
    def q(self) -> np.ndarray:
        """Configuration."""
        return np.asarray(self._core.view("q"))

    @property
    def v(self) -> np.ndarray:
        """Velocities."""
        return np.asarray(self._core.view("v"))

    @property
    def acceleration(self) -> np.ndarray:
        return np.asarray(self._core.view("acceleration"))

    @property
    def multipliers(self) -> np.ndarray:
        """Lagrange multipliers of the constraints."""
        return np.asarray(self._core.view("multipliers"))


class Inputs(MutableMapping):
    """Values of the inputs of a model by name; a new value holds from now on."""

    def __init__(self, core: Any, variables: list[str]):
        self._core = core
        # a variable that is no input has no value here
        self._index = {name: i for i, name in enumerate(variables) if core.input(i) == core.input(i)}

    def __getitem__(self, name: str) -> float:
        return self._core.input(self._index[name])

    def __setitem__(self, name: str, value: float) -> None:
        if name not in self._index:
            raise KeyError(f"'{name}' is no input; inputs: {', '.join(self._index) or 'none'}")
        self._core.set_input(self._index[name], value)

    def __delitem__(self, name: str) -> None:
        raise TypeError("inputs cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)


class Simulation:
    """A simulation of a model.

    Settings are keywords with the names of ``simulation`` in model files: method, step, end, rtol, atol,
    formulation, ...; a double underscore is a dot (``newton__tolerance=1e-12``).  Steps run without the lock of
    the interpreter, so that simulations in several threads run at the same time.
    """

    def __init__(self, model: Model | str | os.PathLike, *, parameters: Mapping[str, float] | None = None,
                 overrides: tuple[str, ...] | list[str] = (), **settings: Any):
        if not isinstance(model, Model):
            from .model import load
            model = load(model)
        self.model = model
        self._settings = settings
        self._opened = model._add_functions(model._open(settings, parameters, overrides))
        try:
            self._core = _core.Simulation(self._opened)
        except ModelError as error:
            raise ModelError(error.errors, model._path or "") from None
        self._bodies = {name: i for i, name in enumerate(self._opened.names("bodies"))}
        self._channels = self._core.channels()
        self.end: float = self._opened.about()[2]  #: end time, s
        self.state = State(self._core)
        self.inputs = Inputs(self._core, self._opened.names("variables"))

    # --- steps -----------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """The present time, s."""
        return self._core.now()[0]

    @property
    def finished(self) -> bool:
        """Whether the end is reached, or an event has ended the run."""
        return self._core.now()[1]

    def step(self, count: int = 1) -> float:
        """Goes on by so many output steps; gives the time reached.  SimulationError if a step fails."""
        if count < 0:
            raise ValueError(f"the number of steps must not be negative, but is {count}")
        return self._core.step(count)

    def run(self, until: float | None = None, out: str | os.PathLike | None = None,
            controller: Callable[["Simulation"], None] | None = None) -> Result:
        """Goes on to the end, or to the first output time from ``until`` on, and gives all recorded quantities.

        ``out`` also writes them to a result file (.h5 or .csv).  ``controller`` is called before every output
        step and may set inputs.  A failed run raises SimulationError, whose ``result`` has the rows before.
        """
        until = np.inf if until is None else until * (1 - 1e-12)
        rows, size = [self.values()[None, :]], 512
        if out is not None:
            self._core.open(os.fspath(out), json.dumps(self._settings, default=str))
        failure: BaseException | None = None
        try:
            while not self.finished and self.t < until:
                # blocks grow, so that long runs rarely wait for the lock of the interpreter
                block = np.empty((1 if controller is not None else size, len(self._channels)))
                size = min(2 * size, max(512, _BLOCK_SIZE // block.shape[1]))
                if controller is not None:
                    controller(self)
                count, status = self._core.advance(block, until)
                rows.append(block[:count])
                if status:
                    self._core.check(status)
        except BaseException as error:
            failure = error
        finally:
            if out is not None:
                ending = "done" if failure is None else "failed" if isinstance(failure, SimulationError) else "interrupted"
                self._core.close(ending, str(failure) if failure is not None else None)
        result = Result(self._channels, np.concatenate(rows), self._opened, self.model)
        if isinstance(failure, SimulationError):
            failure.result = result
        if failure is not None:
            raise failure
        return result

    # --- values ----------------------------------------------------------------------------------------

    @property
    def channels(self) -> list[str]:
        """Names of all recorded quantities."""
        return [channel[0] for channel in self._channels]

    def values(self) -> np.ndarray:
        """All recorded quantities now, in the order of ``channels``."""
        row = np.empty(len(self._channels))
        self._core.row(row)
        return row

    def body(self, name: str) -> BodyState:
        """The state of a body now."""
        if name not in self._bodies:
            raise KeyError(f"no body has the name '{name}'; bodies: {', '.join(self._bodies)}")
        return BodyState._of(self._core.body(self._bodies[name]))

    def summary(self) -> dict[str, Any]:
        """Counts, energies, residuals and warnings of the run so far."""
        return self._core.summary()

    # --- saved states -----------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The state, to be continued bit for bit by `load` of another simulation of the same model and settings."""
        return self._core.save()

    def load(self, state: bytes) -> None:
        """Continues from a saved state; only before the first step."""
        self._core.load(state)

    def __repr__(self) -> str:
        return f"<polhode.Simulation of {self.model!r}, t = {self.t:g} s>"
