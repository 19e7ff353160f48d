"""Contact of the model builder: balls, points and lines against surfaces of bodies, lines, and each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.contract import runner
from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    FLAG,
    NAME,
    NUMBER,
    NUMBER_OR_VECTOR,
    PLACES,
    SHAPES,
    TABLE_POINTS,
    TEXT,
    VECTOR,
    WHOLE,
)
from fem_mbs.elements.contact.law import LOSSES, scale_law
from fem_mbs.elements.contact.surface import CORE, PLANE, gaps
from fem_mbs.elements.contact.triangles import mesh_gaps, tree_table
from fem_mbs.elements.laws import piecewise
from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.building import Building
from fem_mbs.model.connections.surfaces.deforming import DEFORMING, add_pairs, check_lines
from fem_mbs.model.connections.surfaces.lines import Places, line_of, names_of, places_on
from fem_mbs.model.parts.triangles import surface_triangles, triangle_columns
from fem_mbs.system.blocks import GROUND, Block, deal

__all__ = ["SURFACES", "Contact"]

#: What a search for the nearest triangle counts as beside an entry of an element matrix.
_LOOKS = 100
#: Kind of surface -> the keys that say its size.
SURFACES = {
    "plane": (),
    "sphere": ("radius",),
    "cylinder": ("radius",),
    "capsule": ("radius", "length"),
    "box": ("size",),
    "triangles": (),
    "beams": ("radius",),
    "faces": (),
}
#: Most pieces of an element whose ends touch a curved surface as places of a line.
_MOST_PLACES = 64


def _noun(surface: str) -> str:
    return "surface of triangles" if surface == "triangles" else surface


def _gonthier(e: float) -> float:
    """Return the factor c for which a blow of rigid bodies has the coefficient e, whatever the exponent.

    y'' = -y^n (1 + c y') has (1 + c)/(1 - c e) = exp(c (1 + e)): Gonthier, McPhee, Lange & Piedboeuf,
    Multibody Syst. Dyn. 11 (2004), 209-233.
    """
    if e == 1.0:
        return 0.0
    from scipy.optimize import brentq

    least = 1e-3 * (1.0 - e)
    return float(brentq(lambda c: np.log1p(c) - np.log1p(-c * e) - c * (1.0 + e), least, (1.0 - 1e-14) / e, xtol=1e-15))


#: Restitution models -> the factor of y'/y'_0 (or the share of the penetration that stays) by the coefficient e.
_RESTITUTION = {
    "gonthier": ("restitution", _gonthier),
    "flores": ("restitution", lambda e: 8 * (1 - e) / (5 * e)),
    "lankarani": ("restitution", lambda e: 0.75 * (1 - e * e)),
    "indentation": ("indentation", lambda e: 1 - e * e),
}


@dataclass(frozen=True, eq=False)
class Contact(Declaration):
    """Contact of balls, points and lengths of beams with surfaces, and of balls and beams with each other, in large
    motion.

    Add a contact: the nodes of b are balls (or points), or its beams are tubes, a carries a surface that moves with it.

    The normal force is stiffness y^exponent of the penetration y, a table, or Hertz's of an effective modulus; elastic
    contact conserves energy at any step size.  What a blow loses is told by ``damping`` (Hunt & Crossley) or
    ``restitution``, and booked as dissipated.  Friction acts at the point that touches, against sliding, and turns
    balls that rotate.  Steps must be short against a blow to follow it; longer ones miss fast passages.

    Args:
        a: what carries the surface; of several nodes each carries one.  Where a and b are the same place, its balls
            touch each other, each pair once.
        surface: "plane" (the half-space that axis points out of), "sphere", "cylinder" (without ends, along axis),
            "capsule" (a cylinder of ``length`` between two half-spheres), "box" (edges ``size``, rounded by
            ``radius``), "triangles" (in space: ``triangles`` or ``facets``; a ball touches the nearest face, edge or
            corner). The balls are outside of a closed surface of triangles, however these are turned, and on the side
            of the normals of an open one: right-handed about each triangle.  "beams": a is groups of beams, trusses or
            cables, tubes of ``radius`` between their nodes, which deform; b are balls, or lines with ``along``, also
            a itself.  Which parts are near each other is found in the run.  "faces": a is faces of solids ("mesh:set"),
            or shells, which deform; b are balls or nodes, with a radius ``ball``, and ``radius`` is half the thickness;
            they touch from both sides.
        point: a point of the plane, the centre of other surfaces, the origin of triangles, in global coordinates of the
            start.
        triangles: the surface: an STL or OBJ file, or tables, as of ``visual`` of bodies, in axes turned by
            ``rotation``. Its parts must not overlap.
        facets: instead: "mesh:set", plane cells or faces of a mesh that no elements use, where they are at the
            start; quadratic faces count by their corners.
        depth: of an open surface: centres that are deeper behind it have passed it, and nothing holds them.
        inside: the balls are in a hollow sphere, a bore or a hollow capsule.
        ball: radius of the balls.
        modulus: instead of stiffness: 1/((1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b) of both materials, of balls with planes
            and spheres: K = 4/3 modulus sqrt(R), 1/R = 1/R_b + 1/R_a.
        table: instead: points [penetration, force] from [0, 0] on, straight between them and beyond the last.
        damping: b of F (1 + b y').
        restitution: coefficient e in 0 .. 1, with ``restitution_model`` "gonthier" (exact for a free blow), "flores" or
            "lankarani" (approximations, the second for e near 1), or "indentation": the surface keeps a part of each
            indentation until the contact ends.
        coefficient, smoothing, static, stribeck: of friction, as of ``friction``.
        overlap: penetration that is accepted at the start [m]; more is an error.
        along: b is groups of beams, trusses or cables that touch along their length, as tubes of the radius ``ball``.
            The stiffness is that of a point, as where beams cross; a length of beam that lies on something counts as
            one point per diameter (the mean of both), whatever the mesh.  On surfaces of bodies it touches at places
            not more than ``spacing`` apart; on beams at their nearest points, parallel ones at their nodes.
        spacing: along, of the places that touch a surface of a body; sharper edges may pass between them.
        margin: with "beams" and "faces", by which parts may move until near ones are found anew.
        pairs: with "beams" and "faces", room for pairs of parts that are near each other.
    """

    owner = "Contact"

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
        "of the sphere, the cylinder, the capsule or the beams; box: of its rounded edges, beyond size; faces: half "
        "their thickness",
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
    stiffness: float | None = key(NUMBER, "K of K y^exponent", None, shows="none", kw_only=True, unit="N/m^exponent")
    exponent: float = key(NUMBER, "of the penetration; 1.5: Hertz", 1.5, kw_only=True)
    modulus: float | None = key(
        NUMBER, "instead: effective modulus of both materials, for Hertz's stiffness", None, shows="none",
        kw_only=True, unit="Pa",
    )  # fmt: skip
    table: Any = key(
        TABLE_POINTS, "instead: points [penetration, force] from [0, 0] on", None, shows="none", kw_only=True
    )
    damping: float = key(NUMBER, "b of F (1 + b y')", 0.0, kw_only=True, unit="s/m")
    restitution: float | None = key(NUMBER, "instead: coefficient of restitution", None, shows="none", kw_only=True)
    restitution_model: str = key(
        TEXT, "of what restitution says", "gonthier", choices=tuple(_RESTITUTION), kw_only=True
    )
    coefficient: float = key(NUMBER, "of friction", 0.0, kw_only=True)
    smoothing: float | None = key(
        NUMBER, "sliding speed up to which friction rises, like tanh(w/smoothing)", None, shows="none", kw_only=True,
        unit="m/s",
    )  # fmt: skip
    static: float | None = key(NUMBER, "coefficient at small speeds", None, shows="coefficient", kw_only=True)
    stribeck: float | None = key(
        NUMBER, "with static: speed w_0 of its decay, exp(-(w/w_0)^2)", None, shows="none", kw_only=True, unit="m/s"
    )
    overlap: float = key(NUMBER, "penetration that is accepted at the start", 0.0, kw_only=True, unit="m")
    along: bool = key(FLAG, "b's beams touch along their length", False, kw_only=True)
    spacing: float | None = key(
        NUMBER, "along: of the places that touch", None, shows="2 ball, at planes the nodes", kw_only=True, unit="m"
    )
    margin: float | None = key(
        NUMBER, "beams, faces: movement until near parts are found anew", None, shows="by size", kw_only=True, unit="m"
    )
    pairs: int | None = key(
        WHOLE, "beams, faces: most pairs of near parts", None, shows="4 per part, faces 8", kw_only=True
    )

    def build(self, building: Building) -> None:
        owner = building.label("Contact", self.name)
        check_lines(self, building, owner)
        shape = self._shape(building, owner)
        law, table = self._law(building, owner)
        friction = self._friction(building, owner)
        if self.surface in DEFORMING:
            gap, what = add_pairs(self, building, owner, law, table)
            self._check_overlap(building, owner, what, gap)
            return
        places = self._places(building, owner)
        pairs = self._pairs(building, owner, friction["coefficient"] > 0.0, places)
        ends, centres = self._frames(building, owner, pairs, places)
        if self.surface == "triangles":
            start, block = self._add_triangles(building, owner, pairs, centres, table, law | friction | ends)
        else:
            half = np.array([shape[f"half size {k}"] for k in (1, 2, 3)])[: building.dimension]
            start = gaps(centres, shape["surface"], shape["radius"], shape["side"], half, shape["ball radius"])
            columns = {**law, **shape, **friction, **ends}
            kind = "contact" if places is None else "line_contact"
            block = building.add_block(self.name, f"{kind}{building.dimension}", pairs, table, **columns)
        if places is not None:
            share = np.resize(places.share, len(pairs)) / (2.0 * self.ball)
            scale_law(block.par, len(block.type.par), share)
        worst = int(np.argmin(start))
        a = "ground" if pairs[worst, 0] == GROUND else building.node_name(int(pairs[worst, 0]))
        b = names_of(building, pairs[worst, 1:])
        self._check_overlap(building, owner, f'{b} overlaps with the {self.surface} of "{a}"', start[worst])

    def _check_overlap(self, building: Building, owner: Owner, what: str, gap: float) -> None:
        """Raise ModelError where the gap at the start is negative by more than is accepted."""
        accepted = building.number(self.overlap, owner, "overlap", 0.0)
        if gap < -accepted - 1e-9 * max(1.0, float(np.abs(building.positions).max())):
            raise ModelError(
                f"{what} at the start by {-gap:.6g}", owner=owner, remedy="move them apart, or accept it by overlap"
            )

    def _places(self, building: Building, owner: Owner) -> Places | None:
        """Return the places of lines that touch a surface of a body; None: b are balls."""
        if not self.along:
            return None
        line = line_of(building, owner, "b", self.b)
        flat = self.surface == "plane"
        spacing = np.inf if flat else 2.0 * self.ball
        if self.spacing is not None:
            spacing = building.number(self.spacing, owner, "spacing", 0.0, strict=True)
        longest = float(line.length.max())
        if longest / spacing > _MOST_PLACES:
            raise ModelError(
                f"an element of {longest:g} m has more than {_MOST_PLACES} places that are {spacing:g} m apart",
                owner=owner, key="spacing", value=self.spacing, remedy="give a larger spacing, or shorter elements",
            )  # fmt: skip
        return places_on(line, spacing)

    def _add_triangles(
        self, building: Building, owner: Owner, pairs: np.ndarray, centres: np.ndarray, table: np.ndarray,
        columns: dict[str, Any],
    ) -> tuple[np.ndarray, Block]:  # fmt: skip
        """Add the elements of a surface of triangles; return the gaps (n,) at the start, and the block."""
        points, triangles = surface_triangles(building, owner, self.triangles, self.facets, self.inside)
        tree, first, closed = tree_table(points, triangles)
        ball = building.number(self.ball, owner, "ball", 0.0)
        columns = columns | triangle_columns(building, owner, ball, self.depth, first, closed)
        kind = "line_mesh_contact3" if self.along else "mesh_contact3"
        block = building.add_block(self.name, kind, pairs, table, **columns)
        block.par = deal(block.par, block.type, tree)
        start = np.empty(len(pairs))
        runner(mesh_gaps, _LOOKS * len(pairs))(block.par, np.ascontiguousarray(centres), start)
        return start, block

    def _shape(self, building: Building, owner: Owner) -> dict[str, float]:
        """Return the columns of the surface."""
        needed = SURFACES[self.surface]
        for name in ("radius", "length", "size"):
            given = getattr(self, name) is not None
            free = name == "radius" and self.surface in ("box", "faces")
            if given != (name in needed) and not free:
                what = f"needs {name}" if not given else f"has no {name}"
                remedy = f"add {name}" if not given else f"remove {name}"
                raise ModelError(f"a {_noun(self.surface)} {what}", owner=owner, key=name, remedy=remedy)
        if self.inside and self.surface in ("plane", "box"):
            raise ModelError(f"a {self.surface} has no inside", owner=owner, key="inside", remedy="remove inside")
        if self.rotation is not None and self.surface not in ("box", "triangles"):
            raise ModelError("rotation is that of a box", owner=owner, key="rotation", remedy="give axis")
        dim = building.dimension
        self._check_triangles(owner, dim)
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

    def _law(self, building: Building, owner: Owner) -> tuple[dict[str, float], np.ndarray]:
        """Return the columns of the normal force, and its table."""
        said = [n for n in ("stiffness", "modulus", "table") if getattr(self, n) is not None]
        if len(said) != 1:
            found = "no normal force" if not said else f"{' and '.join(said)}, which exclude each other"
            raise ModelError(f"it has {found}", owner=owner, remedy="give one of stiffness, modulus and table")
        exponent = building.number(self.exponent, owner, "exponent", 1.0)
        rows = np.zeros((0, 6))
        stiffness = 0.0
        if self.table is not None:
            rows = self._table(owner)
        elif self.modulus is not None:
            stiffness = self._hertz(building, owner)
        else:
            stiffness = building.number(self.stiffness, owner, "stiffness", 0.0, strict=True)
        damping = building.number(self.damping, owner, "damping", 0.0)
        kind, loss = ("damping", damping) if damping else ("none", 0.0)
        if self.restitution is not None:
            if damping:
                raise ModelError("damping and restitution exclude each other", owner=owner, remedy="remove one")
            e = building.number(self.restitution, owner, "restitution", 0.0, strict=True)
            if e > 1.0:
                raise ModelError(
                    f"restitution = {e:g} would gain energy", owner=owner, key="restitution", value=e,
                    remedy="take a number between 0 and 1",
                )  # fmt: skip
            kind, factor = _RESTITUTION[self.restitution_model]
            loss = factor(e)
            if kind == "indentation" and self.table is not None:
                raise ModelError(
                    "indentation unloads along a power of the penetration, which a table is not", owner=owner,
                    key="table", remedy='give stiffness and exponent, or another model',
                )  # fmt: skip
        columns = {"stiffness": stiffness, "exponent": exponent, "loss kind": float(LOSSES.index(kind)), "loss": loss}
        return columns | {"pieces": float(len(rows))}, rows.ravel()

    def _table(self, owner: Owner) -> np.ndarray:
        points = np.asarray(self.table, float)
        if points.shape[1:] != (2,) or len(points) < 2 or np.abs(points[0]).max() > 0.0:
            raise ModelError("table must begin with [0, 0] and have two points", owner=owner, key="table")
        if (np.diff(points[:, 0]) <= 0.0).any() or (np.diff(points[:, 1]) < 0.0).any():
            raise ModelError(
                "table: the penetration must rise from point to point, and the force must not fall", owner=owner,
                key="table", remedy="sort the points",
            )  # fmt: skip
        return piecewise(np.concatenate(([[-points[-1, 0], 0.0]], points)))

    def _hertz(self, building: Building, owner: Owner) -> float:
        modulus = building.number(self.modulus, owner, "modulus", 0.0, strict=True)
        if building.dimension == 2 or self.surface not in ("plane", "sphere") or self.exponent != 1.5:
            raise ModelError(
                "modulus is for balls on planes and spheres in space, with the exponent 1.5", owner=owner,
                key="modulus", remedy="give stiffness",
            )  # fmt: skip
        curvature = 1.0 / self.ball if self.ball else np.inf
        if self.surface == "sphere":
            radius = float(self.radius or 0.0)
            curvature += (-1.0 if self.inside else 1.0) / radius if radius else np.inf
        if not np.isfinite(curvature):
            raise ModelError("a point has no radius for Hertz's stiffness", owner=owner, key="ball", remedy="give ball")
        return 4.0 / 3.0 * modulus / np.sqrt(curvature)

    def _friction(self, building: Building, owner: Owner) -> dict[str, float]:
        mu = building.number(self.coefficient, owner, "coefficient", 0.0)
        if (mu > 0.0) != (self.smoothing is not None):
            raise ModelError(
                "coefficient and smoothing of friction belong together", owner=owner, remedy="give both or none"
            )
        if (self.static is None) != (self.stribeck is None) or (self.static is not None and not mu):
            raise ModelError(
                "static and stribeck belong together, to a coefficient", owner=owner, remedy="give all or none of them"
            )
        columns = {"coefficient": mu, "static coefficient": mu, "Stribeck speed": 0.0, "smoothing speed": 1.0}
        if self.smoothing is not None:
            columns["smoothing speed"] = building.number(self.smoothing, owner, "smoothing", 0.0, strict=True)
        if self.static is not None:
            columns["static coefficient"] = building.number(self.static, owner, "static", 0.0)
            columns["Stribeck speed"] = building.number(self.stribeck, owner, "stribeck", 0.0, strict=True)
        return columns

    def _pairs(self, building: Building, owner: Owner, rubs: bool, places: Places | None) -> np.ndarray:
        """Return the nodes (n, 2) of surfaces and balls, (n, 3) of surfaces and lines."""
        balls = np.unique(building.nodes_of(self.b, owner) if places is None else places.nodes)
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
