"""Balls, points and lines against surfaces of bodies, and each other: what `Contact` and `Impact` have in common."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from fem_mbs.contract import runner
from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FLAG, NAME, NUMBER, NUMBER_OR_VECTOR, PLACES, SHAPES, TEXT, VECTOR
from fem_mbs.elements.contact.surface import CORE, PLANE, SURFACE_COLUMNS, gaps
from fem_mbs.elements.contact.triangles import mesh_gaps, tree_table
from fem_mbs.elements.laws import piecewise
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.surfaces.lines import Places, names_of
from fem_mbs.model.parts.reduced_surface import surface_nodes
from fem_mbs.model.parts.triangles import surface_triangles, triangle_columns
from fem_mbs.system.blocks import GROUND, Block, deal

__all__ = ["SURFACES", "Sizes", "TouchingPairs", "force_table"]

#: What a search for the nearest triangle counts as beside an entry of an element matrix.
_LOOKS = 100


class Sizes(NamedTuple):
    """Keys that say the size of a surface: those that it needs, and those that it may have."""

    needed: tuple[str, ...] = ()
    free: tuple[str, ...] = ()


#: Kind of surface of a body -> its sizes.
SURFACES = {
    "plane": Sizes(),
    "sphere": Sizes(("radius",)),
    "cylinder": Sizes(("radius",)),
    "capsule": Sizes(("radius", "length")),
    "box": Sizes(("size",), ("radius",)),
    "triangles": Sizes(),
}


def _noun(surface: str) -> str:
    return "surface of triangles" if surface == "triangles" else surface


def _refuse_twins(building: Building, owner: Owner, block: Block) -> None:
    """Refuse a node that touches the same surface by a force law and by blows at once, as a ball or as a line's node.

    Raises:
        ModelError: naming both.
    """
    others = [
        b for b in building.blocks
        if ("contact" in b.type.name or "impact" in b.type.name) and b.type.unilateral != block.type.unilateral
    ]  # fmt: skip
    mine = _touches(block, building.dimension) if others else set()
    for other in others:
        if not mine.isdisjoint(_touches(other, building.dimension)):
            raise ModelError(
                f'the same pair has forces of contact and blows, by "{other.label(0)}" and "{block.label(0)}"',
                owner=owner, remedy="remove one of them",
            )  # fmt: skip


def _touches(block: Block, dimension: int) -> set[tuple[Any, ...]]:
    """Return the pairs that can touch: surface, its carrier, the node, and the places of both (none within a line)."""
    t = block.type
    names = (*(name.split(" [")[0] for name in (*SURFACE_COLUMNS, "depth [m]")), *_frame(dimension))
    # a node of a line has no offset
    table = np.zeros((block.size, len(names)))
    for k, name in enumerate(names):
        if name in t.parameters:
            table[:, k] = block.par[:, t.column(name)]
    surface = b""
    if t.shared:
        own = block.par.shape[1] - int(block.par[0, t.column("width")])
        surface = np.trim_zeros(block.par[:, own:].ravel(), "b").tobytes()
    found: set[tuple[Any, ...]] = set()
    nodes = [block.nodes[:, 1]]
    at = [np.ones(block.size, bool)]
    if block.nodes.shape[1] == 3:
        place = block.par[:, t.column("place 1")]
        nodes, at = [block.nodes[:, 1], block.nodes[:, 2]], [place == 0.0, place == 1.0]
    for node, rows in zip(nodes, at, strict=True):
        whole = zip(block.nodes[rows, 0].tolist(), node[rows].tolist(), table[rows].tolist(), strict=True)
        found |= {(surface, carrier, ball, *values) for carrier, ball, values in whole}
    return found


def force_table(owner: Owner, table: Any) -> np.ndarray:
    """Return the pieces (n, 6) of a normal force by points (k, 2) [penetration, force] that begin at zero."""
    points = np.asarray(table, float)
    if points.shape[1:] != (2,) or len(points) < 2 or np.abs(points[0]).max() > 0.0:
        raise ModelError("table must begin with [0, 0] and have two points", owner=owner, key="table")
    if (np.diff(points[:, 0]) <= 0.0).any() or (np.diff(points[:, 1]) < 0.0).any():
        raise ModelError(
            "table: the penetration must rise from point to point, and the force must not fall", owner=owner,
            key="table", remedy="sort the points",
        )  # fmt: skip
    return piecewise(np.concatenate(([[-points[-1, 0], 0.0]], points)))


def _frame(dimension: int) -> list[str]:
    axes = "xyz"[:dimension]
    return [name for k in range(1, dimension + 1) for c in axes for name in (f"e{k}{c}", f"a{c}_a {k}", f"a{c}_b {k}")]


@dataclass(frozen=True, eq=False)
class TouchingPairs(Declaration):
    """Balls, points and lines of b that touch surfaces of a; derived declarations say what acts between them.

    Attributes:
        surfaces: kinds of surfaces, and their sizes.
        overlap_remedy: what to do about parts that overlap at the start.
    """

    surfaces: ClassVar[dict[str, Sizes]] = SURFACES
    overlap_remedy: ClassVar[str]

    name: str = key(NAME, "in messages and results", shows='"contact 1", ...')
    a: Any = key(PLACES, '"ground" or what carries the surface; each of its nodes carries one')
    b: Any = key(PLACES, "whose nodes are balls or points; if it is a, its balls touch each other")
    surface: str = key(TEXT, "shape of the surface", "plane", choices=tuple(SURFACES), kw_only=True)
    point: Any = key(
        VECTOR,
        "a point of the plane, the centre of others, the origin of triangles, in global coordinates of the start",
        None,
        shows="the nodes of a",
        kw_only=True,
        unit="m",
    )
    axis: Any = key(
        VECTOR, "plane: the normal out of it; cylinder, capsule: their axis", None, shows="none", kw_only=True
    )
    rotation: Any = key(
        NUMBER_OR_VECTOR,
        "of a box or triangles at the start: angle; space: axis times angle",
        None,
        shows="global axes",
        kw_only=True,
        unit="rad",
    )
    radius: float | None = key(
        NUMBER,
        "of the sphere, the cylinder or the capsule; box: of its rounded edges, beyond size",
        None,
        shows="none",
        kw_only=True,
        unit="m",
    )
    length: float | None = key(
        NUMBER, "capsule: between the centres of its ends", None, shows="none", kw_only=True, unit="m"
    )
    size: Any = key(VECTOR, "box: its edges", None, shows="none", kw_only=True, unit="m")
    triangles: Any = key(
        SHAPES, "of triangles: a file, or tables, as of `visual` of bodies", None, shows="none", kw_only=True
    )
    facets: str | None = key(TEXT, 'triangles: instead, "mesh:set" of a mesh', None, shows="none", kw_only=True)
    depth: float | None = key(
        NUMBER, "open triangles: how far behind them centres of balls are pushed back", None, shows="ball",
        kw_only=True, unit="m",
    )  # fmt: skip
    inside: bool = key(FLAG, "the balls are inside of a hollow surface", False, kw_only=True)
    ball: float = key(NUMBER, "radius of the balls; 0: points", 0.0, kw_only=True, unit="m")

    @property
    def has_lines(self) -> bool:
        """Return whether b is groups of beams that touch along their length."""
        return False

    def add_pairs(
        self, building: Building, owner: Owner, kinds: tuple[str, str], columns: dict[str, Any], table: np.ndarray,
        rubs: bool, overlap: float = 0.0, places: Places | None = None,
    ) -> Block:  # fmt: skip
        """Add the elements of all pairs, and refuse an overlap at the start.

        Args:
            kinds: element types of surfaces by formulas, without the dimension, and of triangles.
            columns: parameters of what acts.
            table: rows of a table of its own.
            rubs: friction acts, so that balls turn.
            overlap: penetration [m] that is accepted at the start.
            places: of the lines that touch; None: balls do.

        Raises:
            ModelError: a surface that lacks a key, or a pair that overlaps.
        """
        shape = self._shape(building, owner)
        pairs = self._pairs(building, owner, rubs, places)
        ends, centres = self._frames(building, owner, pairs, places)
        if self.surface == "triangles":
            block, start = self._add_triangles(building, owner, kinds[1], pairs, centres, table, columns | ends)
        else:
            half = np.array([shape[f"half size {k}"] for k in (1, 2, 3)])[: building.dimension]
            start = gaps(centres, shape["surface"], shape["radius"], shape["side"], half, shape["ball radius"])
            kind = f"{kinds[0]}{building.dimension}"
            block = building.add_block(self.name, kind, pairs, table, **columns, **shape, **ends)
        worst = int(np.argmin(start))
        a = "ground" if pairs[worst, 0] == GROUND else building.node_name(int(pairs[worst, 0]))
        b = names_of(building, pairs[worst, 1:])
        self.check_overlap(building, owner, f'{b} overlaps with the {self.surface} of "{a}"', start[worst], overlap)
        _refuse_twins(building, owner, block)
        return block

    def check_overlap(self, building: Building, owner: Owner, what: str, gap: float, accepted: float) -> None:
        """Raise ModelError where the gap [m] at the start is negative by more than is accepted."""
        if gap < -accepted - 1e-9 * max(1.0, float(np.abs(building.positions).max())):
            raise ModelError(f"{what} at the start by {-gap:.6g}", owner=owner, remedy=self.overlap_remedy)

    def _add_triangles(
        self, building: Building, owner: Owner, kind: str, pairs: np.ndarray, centres: np.ndarray, table: np.ndarray,
        columns: dict[str, Any],
    ) -> tuple[Block, np.ndarray]:  # fmt: skip
        """Add the elements of a surface of triangles; return them and the gaps (n,) at the start."""
        points, triangles = surface_triangles(building, owner, self.triangles, self.facets, self.inside)
        tree, first, closed = tree_table(points, triangles)
        ball = building.number(self.ball, owner, "ball", 0.0)
        columns = columns | triangle_columns(building, owner, ball, self.depth, first, closed)
        block = building.add_block(self.name, kind, pairs, table, **columns)
        block.par = deal(block.par, block.type, tree)
        start = np.empty(len(pairs))
        runner(mesh_gaps, _LOOKS * len(pairs))(block.par, np.ascontiguousarray(centres), start)
        return block, start

    def check_keys(self, building: Building, owner: Owner) -> None:
        """Raise ModelError for keys that the surface needs and does not have, or that other surfaces have."""
        sizes = self.surfaces[self.surface]
        for name in ("radius", "length", "size"):
            given = getattr(self, name) is not None
            if given != (name in sizes.needed) and name not in sizes.free:
                what = f"needs {name}" if not given else f"has no {name}"
                remedy = f"add {name}" if not given else f"remove {name}"
                raise ModelError(f"a {_noun(self.surface)} {what}", owner=owner, key=name, remedy=remedy)
        if self.inside and self.surface in ("plane", "box"):
            raise ModelError(f"a {self.surface} has no inside", owner=owner, key="inside", remedy="remove inside")
        if self.rotation is not None and self.surface not in ("box", "triangles"):
            raise ModelError("rotation is that of a box", owner=owner, key="rotation", remedy="give axis")
        self._check_triangles(owner, building.dimension)

    def _shape(self, building: Building, owner: Owner) -> dict[str, float]:
        """Return the columns of the surface."""
        self.check_keys(building, owner)
        dim = building.dimension
        half = np.zeros(3)
        if self.surface == "cylinder" and dim == 3:
            half[2] = np.inf
        elif self.surface == "capsule":
            half[dim - 1] = 0.5 * building.number(self.length, owner, "length", 0.0, strict=True)
        elif self.surface == "box":
            half[:dim] = 0.5 * building.vector(self.size, owner, "size")
            if (half[:dim] < 0.0).any():
                raise ModelError(f"size = {self.size} must not be negative", owner=owner, key="size", value=self.size)
        radius = 0.0 if self.radius is None else building.number(self.radius, owner, "radius", 0.0)
        ball = building.number(self.ball, owner, "ball", 0.0)
        if self.inside and self.surface != "triangles" and ball >= radius:
            raise ModelError(
                f"a ball of radius {ball:g} does not fit into one of {radius:g}", owner=owner, key="ball", value=ball
            )
        if self.surface not in ("plane", "triangles") and not self.inside and ball + radius == 0.0:
            raise ModelError(
                f"points and a {_noun(self.surface)} without a radius never press on each other", owner=owner,
                key="ball", value=ball, remedy="give the radius of the balls" + (
                    ", or that of the rounded edges" if self.surface == "box" else ""
                ),
            )  # fmt: skip
        return {
            "ball radius": ball, "surface": PLANE if self.surface == "plane" else CORE, "radius": radius,
            "side": -1.0 if self.inside else 1.0, **{f"half size {k + 1}": float(half[k]) for k in range(3)},
        }  # fmt: skip

    def _check_triangles(self, owner: Owner, dim: int) -> None:
        """Raise ModelError for keys of triangles at other surfaces, and for others at triangles."""
        if self.surface != "triangles":
            for name in ("triangles", "facets", "depth"):
                if getattr(self, name) is not None:
                    raise ModelError(
                        f'{name} is for surface = "triangles"', owner=owner, key=name, remedy=f"remove {name}"
                    )
            return
        if dim == 2:
            raise ModelError("surfaces of triangles are for space", owner=owner, key="surface", value=self.surface)
        for name in ("point", "rotation"):
            if self.facets is not None and getattr(self, name) is not None:
                raise ModelError(
                    f"facets are where their mesh is, and take no {name}", owner=owner, key=name,
                    remedy="move the mesh",
                )  # fmt: skip

    def _pairs(self, building: Building, owner: Owner, rubs: bool, places: Places | None) -> np.ndarray:
        """Return the nodes (n, 2) of surfaces and balls, (n, 3) of surfaces and lines."""
        balls = np.unique(surface_nodes(building, owner, self.b) if places is None else places.nodes)
        if isinstance(self.a, str) and self.a == "ground":
            carriers = np.array([GROUND])
        else:
            carriers = np.unique(building.nodes_of(self.a, owner))
        if places is not None:
            own = np.isin(carriers, balls)
            if own.any():
                name = building.node_name(int(carriers[own][0]))
                raise ModelError(
                    f'"{name}" carries the surface and is a node of b', owner=owner, key="b", value=self.b,
                    remedy='name two different places; beams touch each other by surface = "beams"',
                )  # fmt: skip
            pairs = np.column_stack((
                np.repeat(carriers, len(places.at)), np.tile(places.nodes, (len(carriers), 1))
            ))  # fmt: skip
        elif np.array_equal(carriers, balls):
            if self.surface != "sphere" or self.inside or self.radius != self.ball or self.point is not None:
                raise ModelError(
                    "balls that touch each other are spheres of the radius of the balls", owner=owner,
                    remedy='give surface = "sphere" and radius = ball, without point',
                )  # fmt: skip
            first, second = np.triu_indices(len(balls), 1)
            pairs = np.column_stack((balls[first], balls[second]))
        else:
            pairs = np.array([(a, b) for a in carriers for b in balls if a != b], np.int64).reshape(-1, 2)
        if len(pairs) == 0:
            raise ModelError("there is nothing that could touch", owner=owner, remedy="name two different places")
        turning = [int(k) for k in balls] if rubs and self.ball > 0.0 and places is None else []
        if rubs or self.surface != "sphere" or self.point is not None:
            turning += [int(k) for k in carriers if k != GROUND]
        building.needs_rotation.extend((owner, k) for k in turning)
        return pairs

    def _frames(
        self, building: Building, owner: Owner, pairs: np.ndarray, places: Places | None
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Return the columns of axes and points, and the coordinates (n, dim) of the balls' centres in the axes."""
        dim, names = building.dimension, "xyz"[: building.dimension]
        carriers, which = np.unique(pairs[:, 0], return_inverse=True)
        point = None if self.point is None else building.vector(self.point, owner, "point")
        if self.facets is not None:
            point = np.zeros(dim)  # in global coordinates of the start
        if point is None and GROUND in carriers:
            raise ModelError("a surface of the ground needs its point", owner=owner, key="point", remedy="add point")
        axes = self._axes(building, owner)  # in rows
        turned = np.array([np.eye(dim) if k == GROUND else building.rotation_matrix(int(k)) for k in carriers])
        own = np.array([np.zeros(dim) if k == GROUND else building.position(int(k)) for k in carriers])
        offset = np.zeros_like(own) if point is None else np.einsum("nij,ni->nj", turned, point - own)
        body = np.einsum("nij,ki->nkj", turned, axes)  # (carriers, axis, component)
        columns: dict[str, Any] = {}
        for k in range(dim):
            for i, c in enumerate(names):
                columns[f"e{k + 1}{c}"] = body[which, k, i]
                columns[f"a{c}_a {k + 1}"] = offset[which, i]
                if places is None:
                    columns[f"a{c}_b {k + 1}"] = 0.0
        at = building.positions[pairs[:, 1]]
        if places is not None:
            z = np.resize(places.at, len(pairs))
            at = (1.0 - z)[:, None] * at + z[:, None] * building.positions[pairs[:, 2]]
            turns = np.array([all(int(n) in building.rotational for n in part) for part in places.nodes])
            arm = np.resize(np.where(turns, self.ball, 0.0), len(pairs))
            for k in range(1, dim + 1):
                columns |= {f"place {k}": z, f"friction arm {k}": arm}
        origin = own if point is None else np.tile(point, (len(carriers), 1))
        return columns, (at - origin[which]) @ axes.T

    def _axes(self, building: Building, owner: Owner) -> np.ndarray:
        """Return the axes of the surface at the start, in rows; the last one is the normal or the axis."""
        dim = building.dimension
        if self.surface in ("box", "triangles"):
            if self.axis is not None:
                raise ModelError(
                    f'a surface "{self.surface}" has no axis', owner=owner, key="axis", remedy="give rotation"
                )
            return building.turned_axes(self.rotation, owner).T
        if self.surface == "sphere" or (self.surface == "cylinder" and dim == 2):
            if self.axis is not None:
                raise ModelError("a sphere has no axis", owner=owner, key="axis", remedy="remove axis")
            return np.eye(dim)
        if dim == 2:
            x, y = building.axis(self.axis, owner)
            return np.array([[y, -x], [x, y]])
        return building.triad(owner, self.axis).T
