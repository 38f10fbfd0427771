"""Models: loaded from files or built in Python, with the keys of model files as keywords."""
from __future__ import annotations

import copy
import json
import math
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence

from . import _core
from .analysis import Equilibrium, LinearModel, Mode
from .errors import ModelError

if TYPE_CHECKING:
    from .simulation import Motion

#: A force as a function f(t, motion): three numbers (force, N, global axes) or six (and a torque, N m, body axes).
ForceFunction = Callable[[float, "Motion"], Sequence[float]]


def _plain(value: Any) -> Any:
    """Arrays as lists, for JSON; numbers that it does not have (nan, inf) as texts, which the rules then refuse."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _check(t: float, **least: tuple[int, int]) -> None:
    """Refuses times that are no number, and counts (value, least) that are too small."""
    if not math.isfinite(t):
        raise ValueError(f"t must be a finite number, not {t}")
    for name, (value, lowest) in least.items():
        if value < lowest:
            raise ValueError(f"{name} must be at least {lowest}, not {value}")


class Model:
    """A mechanism and the settings of its simulation.

    Every ``add_`` method takes the keys of the corresponding object of model files (docs/model-format.md) as
    keywords; numbers may be expressions of parameters.  Errors are found when the model is used, all at once:
    `ModelError`.
    """

    def __init__(self, name: str = "", gravity: Sequence[float] | None = None, **keys: Any):
        self._path: str | None = None
        self._data: dict[str, Any] = _plain({"name": name, **keys})
        if gravity is not None:
            self._data["gravity"] = _plain(gravity)
        self._parameters: Mapping[str, float] = {}
        self._forces: list[tuple[str, str, str, ForceFunction, float]] = []

    # --- building ------------------------------------------------------------------------------------

    def _add(self, kind: str, keys: dict[str, Any]) -> "Model":
        if self._path is not None:
            raise TypeError("a model that was loaded from a file cannot get more elements; "
                            "polhode.Model.from_dict(model.to_dict()) can")
        self._data.setdefault(kind, []).append(_plain({key.rstrip("_"): value for key, value in keys.items()}))
        return self

    def add_body(self, name: str, **keys: Any) -> "Model":
        """A rigid body: mass, inertia, position, rotation, velocity, angular_velocity, shapes, ..."""
        return self._add("bodies", {"name": name, **keys})

    def add_marker(self, name: str, body: str, **keys: Any) -> "Model":
        """A frame on a body: position, rotation."""
        return self._add("markers", {"name": name, "body": body, **keys})

    def add_joint(self, name: str, type: str, **keys: Any) -> "Model":
        """A joint: ``type`` as in model files ("revolute", "spherical", ...), bodies, point, axis, limits, ..."""
        return self._add("joints", {"name": name, "type": type, **keys})

    def add_force(self, name: str, type: str | ForceFunction, **keys: Any) -> "Model":
        """A force element of a type of model files, or a Python function f(t, motion) with the keys body, other
        ("ground") and length (1).

        The function gets the `Motion` of ``body``, and of the ``other`` one as motion.other; its arrays are
        reused from call to call.  It returns the force on the body, N, at its centre of mass in global axes, or
        six numbers: force and torque, N m, in the axes of the body.  The other body gets the opposite.  Its
        derivatives are found by differences: ``length`` is a distance, m, over which it changes noticeably.
        """
        if callable(type):
            values: dict[str, Any] = {"other": "ground", "length": 1.0, **keys}
            if set(values) != {"body", "other", "length"}:
                raise TypeError("a force by a function has the keys body, other and length")
            self._forces.append((name, values["body"], values["other"], type, float(values["length"])))
            return self
        return self._add("forces", {"name": name, "type": type, **keys})

    def add_drive(self, name: str, **keys: Any) -> "Model":
        """A prescribed motion: joint, function, ..."""
        return self._add("drives", {"name": name, **keys})

    def add_coupling(self, name: str, **keys: Any) -> "Model":
        """A gear, rack or screw between two joints."""
        return self._add("couplings", {"name": name, **keys})

    def add_beam(self, name: str, **keys: Any) -> "Model":
        """A beam: points, elements, section, material, ..."""
        return self._add("beams", {"name": name, **keys})

    def add_variable(self, name: str, **keys: Any) -> "Model":
        """A quantity by an expression."""
        return self._add("variables", {"name": name, **keys})

    def add_input(self, name: str, value: float = 0.0, **keys: Any) -> "Model":
        """A variable that a program changes between steps: ``simulation.inputs[name] = value``."""
        return self._add("variables", {"name": name, "expression": repr(float(value)), "input": True, **keys})

    def add_state(self, name: str, **keys: Any) -> "Model":
        """A first-order state: rate, initial."""
        return self._add("states", {"name": name, **keys})

    def add_event(self, name: str, **keys: Any) -> "Model":
        """An event: expression, direction, action, changes."""
        return self._add("events", {"name": name, **keys})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Model":
        """The model of a dictionary with the contents of a model file."""
        model = cls()
        model._data = copy.deepcopy(dict(data))
        return model

    def to_dict(self) -> dict[str, Any]:
        """The contents of a model file."""
        if self._path is not None:
            return json.loads(self._open().about()[1])
        return copy.deepcopy(self._data)

    def save(self, path: str | os.PathLike) -> None:
        """Writes a model file; forces by Python functions cannot be written."""
        if self._forces:
            raise ValueError(f"force '{self._forces[0][0]}' is a Python function and cannot be saved")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")

    # --- use -------------------------------------------------------------------------------------------

    def _open(self, settings: Mapping[str, Any] | None = None, parameters: Mapping[str, float] | None = None,
              overrides: Iterable[str] = ()) -> Any:
        """The model of the library, with other settings, parameters and values ("bodies.rod.mass=3")."""
        changes = [f"parameters.{key}={json.dumps(_plain(value))}"
                   for key, value in {**self._parameters, **(parameters or {})}.items()]
        changes += [f"simulation.{key.rstrip('_').replace('__', '.')}={json.dumps(_plain(value))}"
                    for key, value in (settings or {}).items()]
        if isinstance(overrides, str) or not all(isinstance(change, str) for change in overrides):
            raise TypeError('overrides must be a list of texts, such as ["bodies.rod.mass=3"]')
        changes += list(overrides)
        if self._path is None:
            times: dict[str, float] = {"end": 1} if "rtol" in (settings or {}) else {"end": 1, "step": 1e-3}
            data: dict[str, Any] = {"simulation": times, **self._data}
        source = self._path if self._path is not None else json.dumps(data)
        try:
            return _core.Model(source, self._path is not None, changes)
        except ModelError as error:
            errors = error.errors
            if self._path is None:  # the lines are those of no file
                errors = [e if e.file or not e.line else e._replace(line=0, text=e.text.removeprefix(f"line {e.line}, "))
                          for e in errors]
            raise ModelError(errors, self._path or "") from None

    def _add_functions(self, opened: Any) -> Any:
        """Adds the forces by Python functions to an opened model."""
        from .simulation import Motion
        known = [*opened.names("bodies"), "ground"]
        unknown = [(f"force '{name}': {key}", value) for name, body, other, _, _ in self._forces
                   for key, value in (("body", body), ("other", other)) if value not in known]
        if unknown:
            rule = f"must be one of: {', '.join(known)}"
            raise ModelError([(path, value, rule, "", path.rpartition(":")[0], 0, "", f"{path} {rule} (it is {value})")
                              for path, value in unknown], self._path or "")
        for name, body, other, function, length in self._forces:
            motion = Motion()
            def call(t, function=function, motion=motion):
                return function(t, motion)
            motion._bind(opened.add_force(name, body, other, call, length))
        return opened

    @property
    def name(self) -> str:
        return self._open().about()[0]

    @property
    def parameters(self) -> dict[str, float]:
        """The values of its parameters."""
        return self._open().about()[3]

    def names(self, kind: str) -> list[str]:
        """Names of the "bodies", "markers", "joints", "forces", "drives", "couplings", "variables" or "states"."""
        return self._open().names(kind)

    # --- analyses ---------------------------------------------------------------------------------------

    def static(self, steps: int = 1, t: float = 0.0, **parameters: float) -> Equilibrium:
        """The static equilibrium near the initial values, in so many load steps."""
        _check(t, steps=(steps, 1))
        opened = self._add_functions(self._open(parameters=parameters))
        return Equilibrium._of(opened, *_core.static(opened, t, steps))

    def modes(self, count: int = 0, static: int = 0, t: float = 0.0, **parameters: float) -> list[Mode]:
        """Modes of the lowest frequencies about the initial values, or about the equilibrium that is found in
        ``static`` load steps; all of a small model if count is 0."""
        _check(t, static=(static, 0), count=(count, 0))
        opened = self._add_functions(self._open(parameters=parameters))
        return [Mode._of(opened, *mode) for mode in _core.modes(opened, t, static, count)]

    def linearize(self, inputs: Sequence[str] = (), outputs: Sequence[str] = (), coordinates: Sequence[str] = (),
                  static: int = 0, t: float = 0.0, **parameters: float) -> LinearModel:
        """x' = A x + B u, y = C x + D u on independent coordinates."""
        _check(t, static=(static, 0))
        opened = self._add_functions(self._open(parameters=parameters))
        return LinearModel._of(_core.linearize(opened, t, static, list(coordinates), list(inputs), list(outputs)))

    def __repr__(self) -> str:
        if self._path is not None:
            return f"<polhode.Model {self._path!r}>"
        return f"<polhode.Model {self._data.get('name', '')!r}, {len(self._data.get('bodies', ()))} bodies>"


def load(path: str | os.PathLike, **parameters: float) -> Model:
    """The model of a file, with other values of its parameters.  The file is checked at once; files that it names
    are relative to its folder."""
    model = Model()
    model._path, model._parameters = os.fspath(path), parameters
    model._open()
    return model
