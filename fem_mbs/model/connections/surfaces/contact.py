"""Contact of the model builder: balls, points and lines against surfaces of bodies, lines, and each other."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import FLAG, NUMBER, TABLE_POINTS, TEXT, WHOLE
from fem_mbs.elements.contact.law import LOSSES, scale_law
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.surfaces.deforming import DEFORMING, add_near_pairs, check_lines
from fem_mbs.model.connections.surfaces.lines import Places, line_of, spaced_places
from fem_mbs.model.connections.surfaces.pairs import SURFACES, Sizes, TouchingPairs, force_table

__all__ = ["Contact"]

#: Surfaces of bodies, beams and faces that deform.
_SURFACES = {**SURFACES, "beams": Sizes(("radius",)), "faces": Sizes((), ("radius",))}


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


_HERTZ = 1.5  # exponent of the penetration
#: Restitution models -> the factor of y'/y'_0 (or the share of the penetration that stays) by the coefficient e.
_RESTITUTION = {
    "gonthier": ("restitution", _gonthier),
    "flores": ("restitution", lambda e: 8 * (1 - e) / (5 * e)),
    "lankarani": ("restitution", lambda e: 0.75 * (1 - e * e)),
    "indentation": ("indentation", lambda e: 1 - e * e),
}


@dataclass(frozen=True, eq=False)
class Contact(TouchingPairs):
    """Contact of balls, points and lengths of beams with surfaces, and of balls and beams with each other, in large
    motion.

    Add a contact: the nodes of b are balls (or points), or its beams are tubes, a carries a surface that moves with it.

    The normal force is stiffness y^exponent of the penetration y, a table, or Hertz's of an effective modulus; elastic
    contact conserves energy at any step size.  The loss of a blow follows from ``damping`` (Hunt & Crossley) or
    ``restitution``, and is booked as dissipated.  Friction acts at the point that touches, against sliding, and turns
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
            shells, or a reduced part ("part:surface", or interfaces with all nodes of faces, "part:interface"), which
            deform; b are balls, nodes ("part:surface" too) or lines with ``along``, with a radius ``ball``, and
            ``radius`` is half the thickness; they touch from both sides.  Friction of beams acts at their surfaces,
            so it also gives moments on beams and bodies.  Friction of faces acts at the axis of lines and at the centre
            of nodes, without a moment on them.
        both: b are faces, too; its nodes touch the faces of a and those of a its faces, with half the stiffness each.
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
            indentation until the contact ends.  With "beams" and "faces" it is a damping with this coefficient in
            a free blow at the speed ``approach``; slower blows have a greater coefficient.
        coefficient, smoothing, static, stribeck: of friction, as of ``friction``.
        overlap: penetration that is accepted at the start [m]; more is an error.
        along: b is groups of beams, trusses or cables that touch along their length, as tubes of the radius ``ball``.
            The stiffness is that of a point, as where beams cross; a length of beam that lies on something counts as
            one point per diameter (the mean of both), whatever the mesh.  On surfaces of bodies and on faces it touches
            at places not more than ``spacing`` apart; on beams at their nearest points, parallel ones at their nodes.
        spacing: along, of the places that touch a surface or faces; sharper edges may pass between them.
        margin: with "beams" and "faces", by which parts may move until near ones are found anew.
        pairs: with "beams" and "faces", room for pairs of parts that are near each other.
    """

    owner = "Contact"
    surfaces: ClassVar = _SURFACES
    overlap_remedy = "move them apart, or accept it by overlap"

    surface: str = key(TEXT, "shape of the surface", "plane", choices=tuple(_SURFACES), kw_only=True)
    radius: float | None = key(
        NUMBER,
        "of the sphere, the cylinder, the capsule or the beams; box: of its rounded edges, beyond size; faces: half "
        "their thickness",
        None,
        shows="none",
        kw_only=True,
        unit="m",
    )
    stiffness: float | None = key(NUMBER, "K of K y^exponent", None, shows="none", kw_only=True, unit="N/m^exponent")
    exponent: float = key(NUMBER, "of the penetration; 1.5: Hertz", _HERTZ, kw_only=True)
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
    approach: float | None = key(
        NUMBER, "of beams and faces: speed of a free blow that has the coefficient restitution", None, shows="none",
        kw_only=True, unit="m/s",
    )  # fmt: skip
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
    both: bool = key(FLAG, "faces: the nodes of a touch the faces of b, too", False, kw_only=True)
    spacing: float | None = key(
        NUMBER, "along: of the places that touch", None, shows="2 ball, at planes the nodes", kw_only=True, unit="m"
    )
    margin: float | None = key(
        NUMBER, "beams, faces: movement until near parts are found anew", None, shows="by size", kw_only=True, unit="m"
    )
    pairs: int | None = key(
        WHOLE, "beams, faces: most pairs of near parts", None, shows="4 per part, faces 8", kw_only=True
    )

    @property
    def has_lines(self) -> bool:
        return self.along

    def build(self, building: Building) -> None:
        owner = building.label("Contact", self.name)
        check_lines(self, building, owner)
        self.check_keys(building, owner)
        law, table = self._law(building, owner)
        friction = self._friction(building, owner)
        rubs = friction["coefficient"] > 0.0
        accepted = building.number(self.overlap, owner, "overlap", 0.0)
        if self.surface in DEFORMING:
            gap, what = add_near_pairs(self, building, owner, law, friction, table)
            self.check_overlap(building, owner, what, gap, accepted)
            return
        places = self._places(building, owner)
        kinds = ("contact", "mesh_contact3") if places is None else ("line_contact", "line_mesh_contact3")
        block = self.add_pairs(building, owner, kinds, {**law, **friction}, table, rubs, accepted, places)
        if places is not None:
            share = np.resize(places.share, len(block.nodes)) / (2.0 * self.ball)
            scale_law(block.par, len(block.type.par), share)

    def _places(self, building: Building, owner: Owner) -> Places | None:
        """Return the places of lines that touch a surface of a body; None: b are balls."""
        if not self.along:
            return None
        line = line_of(building, owner, "b", self.b)
        flat = self.surface == "plane"
        spacing = np.inf if flat else 2.0 * self.ball
        if self.spacing is not None:
            spacing = building.number(self.spacing, owner, "spacing", 0.0, strict=True)
        return spaced_places(self, owner, line, spacing)

    def _law(self, building: Building, owner: Owner) -> tuple[dict[str, float], np.ndarray]:
        """Return the columns of the normal force, and its table."""
        said = [n for n in ("stiffness", "modulus", "table") if getattr(self, n) is not None]
        if len(said) != 1:
            found = "no normal force" if not said else f"{' and '.join(said)}, which exclude each other"
            raise ModelError(f"it has {found}", owner=owner, remedy="give one of stiffness, modulus and table")
        exponent = building.number(self.exponent, owner, "exponent", 1.0)
        if self.table is not None and exponent != _HERTZ:
            raise ModelError(
                "exponent belongs to a stiffness", owner=owner, key="exponent", value=exponent,
                remedy="remove it: a table has its own curve",
            )  # fmt: skip
        if self.restitution is None and self.restitution_model != "gonthier":
            raise ModelError(
                "restitution_model belongs to restitution", owner=owner, key="restitution_model",
                value=self.restitution_model, remedy="add restitution, or remove it",
            )  # fmt: skip
        rows = np.zeros((0, 6))
        stiffness = 0.0
        if self.table is not None:
            rows = force_table(owner, self.table)
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
            if self.approach is not None:
                kind, loss = "damping", loss / building.number(self.approach, owner, "approach", 0.0, strict=True)
            if kind == "indentation" and self.table is not None:
                raise ModelError(
                    "indentation unloads along a power of the penetration, which a table is not", owner=owner,
                    key="table", remedy='give stiffness and exponent, or another model',
                )  # fmt: skip
        columns = {"stiffness": stiffness, "exponent": exponent, "loss kind": float(LOSSES.index(kind)), "loss": loss}
        return columns | {"pieces": float(len(rows))}, rows.ravel()

    def _hertz(self, building: Building, owner: Owner) -> float:
        modulus = building.number(self.modulus, owner, "modulus", 0.0, strict=True)
        if building.dimension == 2 or self.surface not in ("plane", "sphere") or self.exponent != _HERTZ:
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
