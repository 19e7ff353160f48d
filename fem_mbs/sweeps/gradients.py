"""Gradients of quantities with respect to the varied numbers of a search, from derivatives of its trials.

A gradient is one more run of the trial, by `fem_mbs.sweeps.sensitivities`; it is kept in the folder of the trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

import numpy as np

from fem_mbs.errors import FemMbsError, ModelError, Owner
from fem_mbs.files import release
from fem_mbs.late import dataclass
from fem_mbs.results import store

__all__ = ["Gradients", "slopes_of"]

FILE = "gradients.json"
_STEP = 1e-6  # of the quantities in an expression, over their size


@dataclass
class Gradients:
    """Gradients of quantities at trials.

    Attributes:
        file: the model file.
        paths: what is varied.
        names: the quantities.
        runs: number of runs that were made for gradients.
    """

    file: Path
    paths: Sequence[str]
    names: Sequence[str]
    runs: int = 0
    known: dict[tuple[float, ...], dict[str, np.ndarray]] = field(default_factory=dict)

    def at(self, values: tuple[float, ...], folder: Path, digest: str) -> dict[str, np.ndarray]:
        """Return the derivatives (n_varied,) of the quantities by their names at a trial, whose folder keeps them.

        Raises:
            ModelError: a quantity or a varied number has no derivatives.
            AnalysisError: the run fails.
        """
        if values not in self.known:
            found = self._kept(folder, digest)
            self.known[values] = self._run(values, folder, digest) if found is None else found
        return self.known[values]

    def _kept(self, folder: Path, digest: str) -> dict[str, np.ndarray] | None:
        path = folder / FILE
        if not path.is_file():
            return None
        kept = store.read_json(path)
        own = {"digest": digest, "paths": list(self.paths), "release": release()}
        if any(kept.get(name) != value for name, value in own.items()):
            return None
        found = {name: np.array(slopes) for name, slopes in kept["derivatives"].items()}
        return found if set(self.names) <= set(found) else None

    def _run(self, values: tuple[float, ...], folder: Path, digest: str) -> dict[str, np.ndarray]:
        from fem_mbs.sweeps.sensitivities import sensitivities

        try:
            result = sensitivities(
                self.file, dict(zip(self.paths, values, strict=True)), self.names, lambda _: None, idle=True
            )
        except FemMbsError as error:
            raise type(error)(f'{error}; a method without gradients is "cobyqa"') from None
        self.runs += 1
        found = {q.name: np.array(q.slopes) for q in result.quantities}
        for name, slopes in found.items():
            if not np.isfinite(slopes).all():
                raise ModelError(
                    f'"{name}" has no derivative at {values}', owner=Owner("Optimisation"),
                    remedy='take method = "cobyqa"',
                )  # fmt: skip
        kept = {
            "digest": digest, "paths": list(self.paths), "release": release(),
            "derivatives": {name: slopes.tolist() for name, slopes in found.items()},
        }  # fmt: skip
        store.write_json(folder / FILE, kept)
        return found


def slopes_of(
    expression: Callable[..., float], names: Sequence[str], quantities: Mapping[str, float],
    derivatives: Mapping[str, np.ndarray],
) -> np.ndarray:  # fmt: skip
    """Return the gradient (n_varied,) of an expression of quantities, by the chain rule."""
    values = [quantities[name] for name in names]
    total = np.zeros(len(derivatives[names[0]]))
    for i, name in enumerate(names):
        step = _STEP * max(abs(values[i]), 1e-150)
        up, down = ([*values[:i], values[i] + s, *values[i + 1 :]] for s in (step, -step))
        total += (float(expression(*up)) - float(expression(*down))) / (2.0 * step) * derivatives[name]
    return total
