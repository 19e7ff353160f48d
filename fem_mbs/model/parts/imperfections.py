"""Declaration of imperfections: nodes of a mesh moved before elements are made of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FILE, NUMBER, PLACES, TEXT, VELOCITY, WHOLE, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building

__all__ = ["Imperfection"]

#: What reads a shape of results, which stand above models.
_READER = "fem_mbs.results.modes.shapes:read_shape"


@dataclass(frozen=True, eq=False)
class Imperfection(Declaration):
    """Nodes that stand elsewhere than the mesh has them: a shape times a factor. Several add up.

    Move nodes of a mesh by a shape times a factor, before parts are made of them; later calls add to earlier ones.

    Args:
        displacement: (dimension,) numbers or expressions of x, y, z; or one row per node, (n, dimension).
        results: instead of displacement: a results folder of the same mesh, ``step`` of it by its name (or number), and
            ``mode`` by its number; shapes of modes and of buckling have 1 as their largest component.
    """

    owner = "Imperfection"

    on: Any = key(PLACES, "nodes that are moved", "all")
    displacement: Any = key(
        VELOCITY, "expressions of x, y, z of the mesh", None, shows="that of `results`", unit="m"
    )  # fmt: skip
    results: Any = key(FILE, "results folder of a model with the same mesh", None, shows="none")
    step: str = key(TEXT, "name of a step of `results`, or its number", "1")
    mode: int = key(
        WHOLE, "number of its shape, whose largest component is 1; 0: displacements at the end of a step with states", 1
    )
    factor: float = key(NUMBER, "that multiplies the shape", 1.0)

    def build(self, building: Building) -> None:
        owner = Owner("Imperfection")
        if (self.displacement is None) == (self.results is None):
            raise ModelError("give displacement, or results with step and mode", owner=owner)
        nodes = building.nodes_of(self.on, owner)
        used = np.zeros(building.n_nodes, bool)
        for block in building.blocks:
            used[block.nodes[block.nodes >= 0]] = True
        if used[nodes].any():
            first = building.node_name(int(nodes[used[nodes]][0]))
            raise ModelError(
                f'it would move node "{first}", which elements already use', owner=owner,
                remedy="make the imperfection before the parts",
            )  # fmt: skip
        x = building.positions[nodes]
        moved = self._given(building, owner, x) if self.results is None else self._of_results(x)
        building.move_nodes(nodes, x + float(self.factor) * moved)

    def _of_results(self, x: np.ndarray) -> np.ndarray:
        module, function = _READER.split(":")
        step = int(self.step) if self.step.isdigit() else self.step
        found: np.ndarray = getattr(import_module(module), function)(self.results, step, self.mode, x)
        return found[:, : x.shape[1]]

    def _given(self, building: Building, owner: Owner, x: np.ndarray) -> np.ndarray:
        """Return the displacements (n, dimension) of nodes at x.

        Raises:
            ModelError: the shape of what is given does not fit, or it is not finite.
        """
        dim = building.dimension
        if np.ndim(self.displacement) == 2:
            out = np.asarray(self.displacement, float)
        else:
            if isinstance(self.displacement, str) or len(self.displacement) != dim:
                raise ModelError(
                    f"displacement = {shown(self.displacement)} must be {dim} numbers or expressions", owner=owner,
                    key="displacement", value=self.displacement,
                )  # fmt: skip
            columns = {c: x[:, i] for i, c in enumerate("xyz"[:dim])}
            out = np.empty(x.shape)
            for i, part in enumerate(self.displacement):
                text = isinstance(part, str)
                out[:, i] = (
                    compile_expression(part, tuple(columns))(*columns.values())
                    if text else building.number(part, owner, "displacement")
                )  # fmt: skip
        if out.shape != x.shape or not np.isfinite(out).all():
            raise ModelError(
                f"displacement must be finite and have a row for each of {len(x)} nodes", owner=owner,
                key="displacement",
            )  # fmt: skip
        return out
