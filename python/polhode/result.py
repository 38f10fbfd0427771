"""Results: recorded quantities as arrays, data frames, plots and animations."""
from __future__ import annotations

import csv
import fnmatch
import html
import os
import tempfile
import webbrowser
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

from . import _core

if TYPE_CHECKING:
    from .model import Model


class Result(Mapping):
    """Recorded quantities by name, one row for each output time.

    ``result["rod.position.x"]`` is an array of the rows, ``result["rod.position"]`` one with three columns.
    """

    def __init__(self, channels: Sequence[tuple[str, str, str, str, str]], rows: np.ndarray, opened: Any = None,
                 model: "Model | None" = None, about: dict[str, Any] | None = None):
        self._channels = [tuple(channel) for channel in channels]
        self._index = {channel[0]: i for i, channel in enumerate(self._channels)}
        self._opened, self.model = opened, model
        self.rows = rows                       #: all numbers, rows x channels
        self.about = about or {}               #: of a file: format, name, model, status, failure
        self.units = {channel[0]: channel[1] for channel in self._channels}  #: units by name

    @property
    def t(self) -> np.ndarray:
        """Times, s."""
        return self["t"]

    def _columns(self, name: str) -> list[int]:
        """Columns of a vector: NAME.w, NAME.x, ..."""
        return [self._index[f"{name}.{part}"] for part in "wxyz" if f"{name}.{part}" in self._index]

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self._index:
            return self.rows[:, self._index[name]]
        columns = self._columns(name)
        if not columns:
            near = [known for known in self._index if name.lower() in known.lower()][:5]
            raise KeyError(f"no quantity has the name '{name}'" + (f"; similar: {', '.join(near)}" if near else ""))
        return self.rows[:, columns]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, name: object) -> bool:
        return name in self._index or (isinstance(name, str) and bool(self._columns(name)))

    def to_dict(self, *patterns: str) -> dict[str, np.ndarray]:
        """Arrays by name; only names that match one of the patterns, if there are any (``rod.*``)."""
        return {name: self[name] for name in self if not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)}

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the times as index."""
        import pandas
        return pandas.DataFrame(self.rows[:, 1:], index=pandas.Index(self.t, name="t"), columns=list(self)[1:])

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Curves over time by matplotlib; gives the axes."""
        if axes is None:
            import matplotlib.pyplot
            axes = matplotlib.pyplot.figure().gca()
        units = set()
        for name in names:
            for column in [self._index[name]] if name in self._index else self._columns(name) or [self._index[name]]:
                axes.plot(self.t, self.rows[:, column], label=self._channels[column][0])
                units.add(self._channels[column][1])
        axes.set_xlabel("t in s")
        axes.set_ylabel(", ".join(sorted(units)))
        axes.legend()
        return axes

    def save(self, path: str | os.PathLike) -> None:
        """Writes a CSV file that polhode reads as a result."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            file.write(f"# polhode {_core.version}\n# units: {','.join(channel[1] for channel in self._channels)}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self._index)
            writer.writerows([repr(float(x)) for x in row] for row in self.rows)

    def view(self) -> "View":
        """The animation as a page, which notebooks show; ``.open()`` shows it in a browser."""
        opened = self._opened
        if opened is None:
            if not self.about.get("model"):
                raise ValueError("the result does not contain its model, which the animation needs")
            opened = _core.Model(self.about["model"], False, [])
        folder = os.path.dirname(self.model._path) if self.model is not None and self.model._path else None
        with tempfile.TemporaryDirectory() as place:
            rows, page = os.path.join(place, "rows.csv"), os.path.join(place, "page.html")
            self.save(rows)
            _core.write_view(opened, rows, page, folder or None)
            with open(page, encoding="utf-8") as file:
                return View(file.read())

    def __repr__(self) -> str:
        return f"<polhode.Result: {len(self.rows)} rows of {len(self)} quantities, t = {self.t[0]:g} to {self.t[-1]:g} s>"


class View:
    """A page with the animation of a result."""

    def __init__(self, page: str):
        self.html = page  #: the page, which needs no other file

    def save(self, path: str | os.PathLike) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def open(self) -> str:
        """Shows the page in the browser; gives its path, a temporary file that stays."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(self.html)
        webbrowser.open("file://" + file.name)
        return file.name

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 560px; border: 0"></iframe>'


def read_result(path: str | os.PathLike) -> Result:
    """The contents of a result file, HDF5 or CSV."""
    channels, numbers, about = _core.read_result(os.fspath(path))
    return Result(channels, np.frombuffer(numbers).reshape(-1, len(channels)), about=about)
