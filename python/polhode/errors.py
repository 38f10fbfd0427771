"""Exceptions of polhode: what is wrong with an input, and why a calculation failed."""
from __future__ import annotations

from typing import NamedTuple


class InputError(NamedTuple):
    """One error of a model: where it is, the value there, and the rule that it violates."""
    path: str        #: location: ``bodies[0].mass``, or ``body 'crank': mass``
    value: str       #: the value found there, as JSON
    rule: str        #: the requirement: ``must be a positive number``
    suggestion: str  #: a similar name, or ""
    element: str     #: the element that it is in: ``body 'crank'``, or ""
    line: int        #: line of the file, from 1; 0 if it is not known
    file: str        #: the included file that it is in, or ""
    text: str        #: all of it in one line


class PolhodeError(Exception):
    """Base of all exceptions that polhode raises by itself."""


class ModelError(PolhodeError, ValueError):
    """A model is invalid.  ``errors`` has every error that was found, ``source`` the name of its file, or ""."""

    def __init__(self, errors, source=""):
        self.errors, self.source = [InputError(*error) for error in errors], source
        super().__init__("\n".join(f"{source}: {error.text}" if source else error.text for error in self.errors))


class SimulationError(PolhodeError, RuntimeError):
    """A calculation failed: when, where and why, and what to try.

    ``result`` has what was recorded until then, if ``run`` raised it."""

    def __init__(self, status, t, h, step, iteration, residual, where, message, advice):
        self.status, self.t, self.h, self.step = status, t, h, step
        self.iteration, self.residual, self.where = iteration, residual, where
        self.message, self.advice, self.result = message, advice, None
        text = message or status
        super().__init__(f"{text}; try: {advice}" if advice else text)
