"""The bulk data entries that are read: one line of fields each.

A spec is a list of words, one per field in the order of the entry, eight per line:

    name:KIND          required             name:KIND=value   default      name:KIND=other   the value of another field
    name:KIND=         None where blank     -                 not read      !name:KIND=      supported where blank only

    I whole number   R real number   S word   C components, digits of 1 to 6   X whole or real number   A anything

The last word may repeat: ``name:KIND*`` is the list of all fields that are left, blank ones out; ``name:KIND+`` keeps
them as None; ``name:T*`` is a list of numbers in which THRU and BY make ranges, or ALL.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property
from typing import Any

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.text import Entry, Line, whole
from fem_mbs.meshes.texts import number, short

__all__ = ["CARDS", "Card", "CardKind", "FieldKind", "anything", "read_card"]

_LARGEST_RANGE = 10_000_000


@dataclass(frozen=True)
class FieldKind:
    """A field of an entry: name, kind, default text ("" None, None required), and whether only blank is supported."""

    name: str
    kind: str
    default: str | None
    repeats: str = ""
    blank_only: bool = False


@dataclass(frozen=True)
class CardKind:
    """An entry that is read: its fields, what it is, and how far it is supported."""

    name: str
    spec: str
    text: str

    @cached_property
    def fields(self) -> list[FieldKind | None]:
        """Fields in order; None stands for one that is not read."""
        return [None if word == "-" else _field_kind(word) for word in self.spec.split()]

    @property
    def first(self) -> str:
        """The name of the first field that is read, by which others refer to the entry."""
        return next(f.name for f in self.fields if f is not None)


def _field_kind(word: str) -> FieldKind:
    blank = word.startswith("!")
    name, _, rest = word.lstrip("!").partition(":")
    kind, equal, default = rest.partition("=")
    repeats = kind[1:]
    return FieldKind(name, kind[0], default if equal else None, repeats, blank)


@dataclass(frozen=True, eq=False)
class Card:
    """A bulk data entry as values by name; ``where`` is its file and line.

    given: names of the fields that are neither blank nor zero in the file; seen: those that were asked for.
    """

    name: str
    values: dict[str, Any]
    place: Line
    given: frozenset[str] = frozenset()
    seen: set[str] = field(default_factory=set)

    @property
    def where(self) -> str:
        """File and line."""
        return self.place.where

    def __getitem__(self, name: str) -> Any:
        self.seen.add(name)
        return self.values[name]

    @property
    def id(self) -> int:
        """The number of the entry, its first field."""
        return int(next(iter(self.values.values())))


def _components(text: str) -> str:
    digits = "".join(sorted(set(text.replace(" ", ""))))
    if digits in ("", "0"):
        return ""
    if not re.fullmatch(r"[1-6]+", digits):
        raise ValueError(text)
    return digits


def _mixed(text: str) -> int | float:
    return whole(text) if re.fullmatch(r"[+-]?\d+", text) else number(text)


def anything(text: str) -> int | float | str:
    """Return a field as a number if it is one, else as a word in upper case."""
    try:
        return _mixed(text)
    except ValueError:
        return text.upper()


_READ = {
    "I": (whole, "a whole number"), "R": (number, "a number"), "S": (str.upper, "a word"),
    "C": (_components, "made of components 1 to 6"), "X": (_mixed, "a number"), "A": (anything, "a field"),
}  # fmt: skip


def _value(entry: Entry, at: int, kind: FieldKind, text: str) -> Any:
    read, what = _READ[kind.kind]
    try:
        return read(text)
    except ValueError:
        entry.fail(f"field {at % 8 + 2} of line {at // 8 + 1} ({kind.name}) is {short(text)}, which is not {what}")


def _ranges(entry: Entry, at: int, texts: list[str]) -> list[int] | str:
    """Return the numbers of a list with THRU and BY, or "ALL"."""
    out: list[int] = []
    kind = FieldKind("numbers", "I", None)
    words = [(at + i, t.upper()) for i, t in enumerate(texts) if t]
    k = 0
    while k < len(words):
        i, text = words[k]
        if text == "ALL":
            return "ALL"
        if text == "THRU":
            if not out or k + 1 >= len(words):
                entry.fail("THRU needs a number before and after it")
            last = _value(entry, words[k + 1][0], kind, words[k + 1][1])
            step, k = 1, k + 2
            if k + 1 < len(words) and words[k][1] == "BY":
                step = _value(entry, words[k + 1][0], kind, words[k + 1][1])
                k += 2
            if step < 1 or last < out[-1] or (last - out[-1]) // step > _LARGEST_RANGE:
                entry.fail(f"the range {out[-1]} THRU {last} BY {step} is none")
            out += range(out[-1] + step, last + 1, step)
            continue
        out.append(_value(entry, i, kind, text))
        k += 1
    return out


def read_card(entry: Entry, kind: CardKind) -> Card:
    """Return the values of an entry by the table.

    Raises:
        MeshError: fields that are missing, of the wrong kind or too many, with file and line.
    """
    values: dict[str, Any] = {}
    given: set[str] = set()
    fields = entry.fields
    for at, f in enumerate(kind.fields):
        text = fields[at] if at < len(fields) else ""
        if f is None:
            if text and anything(text) != 0:
                given.add(f"field {at % 8 + 2} of line {at // 8 + 1}")
            continue
        if text and anything(text) != 0:
            given.add(f.name)
        if f.repeats:
            rest = fields[at:]
            while rest and not rest[-1]:
                rest = rest[:-1]
            if f.kind == "T":
                values[f.name] = _ranges(entry, at, rest)
            elif f.repeats == "+":
                values[f.name] = [_value(entry, at + i, f, t) if t else None for i, t in enumerate(rest)]
            else:
                values[f.name] = [_value(entry, at + i, f, t) for i, t in enumerate(rest) if t]
            break
        if text:
            if f.blank_only:
                read = anything(text)
                if read not in (0, 0.0):
                    values[f.name] = read
                    continue
                values[f.name] = None
                continue
            values[f.name] = _value(entry, at, f, text)
        elif f.default is None:
            entry.fail(f"field {at % 8 + 2} of line {at // 8 + 1} ({f.name}) is missing")
        elif f.default in values:
            values[f.name] = values[f.default]
        else:
            values[f.name] = _READ[f.kind][0](f.default) if f.default else None
    else:
        surplus = [t for t in fields[len(kind.fields) :] if t]
        if surplus:
            raise MeshError(
                f"{entry.where}: {entry.name}: {short(surplus[0])} stands behind its last field "
                f"({len(kind.fields)} fields are known)"
            )
    return Card(kind.name, values, entry.place, frozenset(given))


_SPECS = """
GRID    id:I cp:I= x:R=0 y:R=0 z:R=0 cd:I= ps:C= seid:I=                | grid point, with CP, CD and PS
GRDSET  - cp:I= - - - cd:I= ps:C= seid:I=                                | defaults of grid points
SPOINT  ids:T*                                                           | scalar points
CORD1R  id:I a:I b:I c:I id2:I= a2:I= b2:I= c2:I=                        | rectangular system by grid points
CORD1C  id:I a:I b:I c:I id2:I= a2:I= b2:I= c2:I=                        | cylindrical system by grid points
CORD1S  id:I a:I b:I c:I id2:I= a2:I= b2:I= c2:I=                        | spherical system by grid points
CORD2R  id:I rid:I=0 a1:R=0 a2:R=0 a3:R=0 b1:R=0 b2:R=0 b3:R=0 c1:R=0 c2:R=0 c3:R=0 | rectangular system by points
CORD2C  id:I rid:I=0 a1:R=0 a2:R=0 a3:R=0 b1:R=0 b2:R=0 b3:R=0 c1:R=0 c2:R=0 c3:R=0 | cylindrical system by points
CORD2S  id:I rid:I=0 a1:R=0 a2:R=0 a3:R=0 b1:R=0 b2:R=0 b3:R=0 c1:R=0 c2:R=0 c3:R=0 | spherical system by points
MAT1    id:I e:R= g:R= nu:R= rho:R=0 a:R=0 tref:R=0 ge:R=0 st:R= sc:R= ss:R= mcsid:I= | isotropic material
MAT9    id:I c11:R=0 c12:R=0 c13:R=0 c14:R=0 c15:R=0 c16:R=0 c22:R=0 c23:R=0 c24:R=0 c25:R=0 c26:R=0 c33:R=0 c34:R=0 \
c35:R=0 c36:R=0 c44:R=0 c45:R=0 c46:R=0 c55:R=0 c56:R=0 c66:R=0 rho:R=0 a1:R=0 a2:R=0 a3:R=0 a4:R=0 a5:R=0 a6:R=0 \
tref:R=0 ge:R=0                                                          | anisotropic material of solids
MAT2    id:I g11:R=0 g12:R=0 g13:R=0 g22:R=0 g23:R=0 g33:R=0 rho:R=0 a1:R=0 a2:R=0 a3:R=0 tref:R=0 ge:R=0 st:R= sc:R= \
ss:R= mcsid:I=                                                           | anisotropic material of shells
MAT8    id:I e1:R e2:R nu12:R=0 g12:R=0 g1z:R= g2z:R= rho:R=0 a1:R=0 a2:R=0 tref:R=0 xt:R= xc:R= yt:R= yc:R= s:R= \
ge:R=0 f12:R= strn:R=                                                    | orthotropic material of shells
MATT1   id:I te:I= tg:I= tnu:I= trho:I= ta:I= - tge:I= tst:I= tsc:I= tss:I= | isotropic material over the temperature
TABLEM1 tid:I - - - - - - - rows:A+                                        | table of a material
TABLEM2 tid:I x1:R=0 - - - - - - rows:A+                                   | table of factors on a material, shifted
TABLEM3 tid:I x1:R=0 x2:R=1 - - - - - rows:A+                              | the same, shifted and scaled
TABLEM4 tid:I x1:R=0 x2:R=1 x3:R x4:R - - - rows:A+                        | factor on a material by a polynomial
SPC     sid:I g1:I c1:C= d1:R=0 g2:I= c2:C= d2:R=0                       | supports, zero displacements
SPC1    sid:I c:C= ids:T*                                                | supports of many grid points
SPCADD  sid:I sets:I*                                                    | union of support sets
SPCD    sid:I g1:I c1:C= d1:R=0 g2:I= c2:C= d2:R=0                       | enforced displacements
MPC     sid:I terms:A+                                                   | linear constraint
MPCADD  sid:I sets:I*                                                    | union of constraint sets
FORCE   sid:I g:I cid:I=0 f:R=1 n1:R=0 n2:R=0 n3:R=0                     | force on a grid point
FORCE1  sid:I g:I f:R g1:I g2:I                                          | force along two grid points
MOMENT  sid:I g:I cid:I=0 f:R=1 n1:R=0 n2:R=0 n3:R=0                     | moment on a grid point
SLOAD   sid:I g1:I f1:R g2:I= f2:R=0 g3:I= f3:R=0                         | loads on scalar points, or on T1 of others
MOMENT1 sid:I g:I f:R g1:I g2:I                                          | moment along two grid points
LOAD    sid:I s:R terms:X+                                               | combination of load sets
GRAV    sid:I cid:I=0 a:R n1:R=0 n2:R=0 n3:R=0 mb:I=                     | acceleration of gravity
RFORCE  sid:I g:I=0 cid:I=0 a:R=0 r1:R=0 r2:R=0 r3:R=0 method:I=1 !racc:R= !mb:I= !idrf:I= | steady rotation
PLOAD   sid:I p:R g1:I g2:I g3:I g4:I=                                   | pressure on a face of grid points
PLOAD1  sid:I eid:I type:S scale:S x1:R p1:R x2:R= p2:R=                 | line load on bars
PLOAD2  sid:I p:R ids:T*                                                 | pressure on shells
PLOAD4  sid:I eid:I p1:R=0 p2:R=p1 p3:R=p1 p4:R=p1 g1:A= g34:I= cid:I=0 n1:R=0 n2:R=0 n3:R=0 sorl:S=SURF ldir:S=NORM \
                                                                         | pressure on faces of solids and shells
TEMP    sid:I g1:I t1:R g2:I= t2:R= g3:I= t3:R=                          | temperatures of grid points
TEMPD   sid:I t1:R sid2:I= t2:R= sid3:I= t3:R= sid4:I= t4:R=             | temperature of all other grid points
TEMPRB  sid:I eid:I ta:R=0 tb:R=0 tp1a:R=0 tp1b:R=0 tp2a:R=0 tp2b:R=0 tca:R=0 tda:R=0 tea:R=0 tfa:R=0 tcb:R=0 \
tdb:R=0 teb:R=0 tfb:R=0 ids:T*                                           | temperatures and gradients of bars and rods
EIGRL   sid:I v1:R= v2:R= nd:I= msglvl:I= maxset:I= shfscl:R= norm:S= options:A*    | lowest modes, buckling factors
EIGR    sid:I method:S= f1:R= f2:R= ne:I= nd:I= - - norm:S= g:I= c:C= options:A*     | modes
EIGB    sid:I method:S= l1:R= l2:R= nep:I= ndp:I= ndn:I= - norm:S= g:I= c:C= | buckling factors
CBAR    eid:I pid:I=eid ga:I gb:I x1:X= x2:R= x3:R= offt:S= pa:C= pb:C= w1a:R=0 w2a:R=0 w3a:R=0 \
w1b:R=0 w2b:R=0 w3b:R=0                                                  | bar
PBAR    pid:I mid:I a:R=0 i1:R=0 i2:R=0 j:R=0 nsm:R=0 - c1:R=0 c2:R=0 d1:R=0 d2:R=0 e1:R=0 e2:R=0 f1:R=0 f2:R=0 k1:R= \
k2:R= i12:R=0                                                            | section of bars
PBARL   pid:I mid:I group:S= type:S - - - - dims:R+                       | section of bars by its shape
BAROR   - pid:I= - - x1:X= x2:R= x3:R= offt:S=                           | defaults of bars
CBEAM   eid:I pid:I=eid ga:I gb:I x1:X= x2:R= x3:R= offt:S= pa:C= pb:C= w1a:R=0 w2a:R=0 w3a:R=0 \
w1b:R=0 w2b:R=0 w3b:R=0 !sa:I= !sb:I=                                                            | beam
PBEAM   pid:I mid:I a:R i1:R i2:R i12:R=0 j:R=0 nsm:R=0 stations:A+       | section of beams, with that of end B
PBEAML  pid:I mid:I group:S= type:S - - - - dims:A+                       | section of beams by its shape, that of end A
BEAMOR  - pid:I= - - x1:X= x2:R= x3:R= offt:S=                           | defaults of beams
CROD    eid:I pid:I=eid g1:I g2:I                                        | rod
PROD    pid:I mid:I a:R=0 j:R=0 c:R=0 nsm:R=0                            | section of rods
CTUBE   eid:I pid:I=eid g1:I g2:I                                        | rod with a tube as its section
PTUBE   pid:I mid:I od:R t:R= nsm:R=0 od2:R=                              | section of tubes
CONROD  eid:I g1:I g2:I mid:I a:R=0 j:R=0 c:R=0 nsm:R=0                  | rod with its section
CQUAD4  eid:I pid:I=eid g1:I g2:I g3:I g4:I theta:X=0 zoffs:R=0 - tflag:I=0 t1:R= t2:R= t3:R= t4:R= | shell
CQUADR  eid:I pid:I=eid g1:I g2:I g3:I g4:I theta:X=0 zoffs:R=0 - tflag:I=0 t1:R= t2:R= t3:R= t4:R= | shell
CTRIA3  eid:I pid:I=eid g1:I g2:I g3:I theta:X=0 zoffs:R=0 - - tflag:I=0 t1:R= t2:R= t3:R= | shell
CTRIAR  eid:I pid:I=eid g1:I g2:I g3:I theta:X=0 zoffs:R=0 - - tflag:I=0 t1:R= t2:R= t3:R= | shell
CQUAD8  eid:I pid:I=eid g1:I g2:I g3:I g4:I g5:I= g6:I= g7:I= g8:I= t1:R= t2:R= t3:R= t4:R= theta:X=0 zoffs:R=0 \
tflag:I=0                                                                | shell with mid-side points
CTRIA6  eid:I pid:I=eid g1:I g2:I g3:I g4:I= g5:I= g6:I= theta:X=0 zoffs:R=0 t1:R= t2:R= t3:R= tflag:I=0 \
                                                                         | shell with mid-side points
PSHELL  pid:I mid1:I= t:R= mid2:I= bk:R=1 mid3:I= ts:R=0.833333 nsm:R=0 z1:R= z2:R= mid4:I= | section of shells
PCOMPG  pid:I z0:R= nsm:R=0 sb:R= ft:S= tref:R=0 ge:R=0 lam:S= plies:A+   | section of laminated shells by global plies
PCOMP   pid:I z0:R= nsm:R=0 sb:R= ft:S= tref:R=0 ge:R=0 lam:S= plies:A+   | section of laminated shells
CHEXA   eid:I pid:I=eid nodes:I+                                         | hexahedron, 8 or 20 grid points
CPENTA  eid:I pid:I=eid nodes:I+                                         | wedge, 6 or 15 grid points
CTETRA  eid:I pid:I=eid nodes:I+                                         | tetrahedron, 4 or 10 grid points
PSOLID  pid:I mid:I cordm:I=0 in:A= stress:A= isop:A= fctn:S=SMECH       | solids
CONM1   eid:I g:I cid:I=0 m11:R=0 m21:R=0 m22:R=0 m31:R=0 m32:R=0 m33:R=0 m41:R=0 m42:R=0 m43:R=0 m44:R=0 m51:R=0 \
m52:R=0 m53:R=0 m54:R=0 m55:R=0 m61:R=0 m62:R=0 m63:R=0 m64:R=0 m65:R=0 m66:R=0 | mass matrix
CONM2   eid:I g:I cid:I=0 m:R=0 x1:R=0 x2:R=0 x3:R=0 - i11:R=0 i21:R=0 i22:R=0 i31:R=0 i32:R=0 i33:R=0 | mass
CBUSH   eid:I pid:I=eid ga:I gb:I= x1:X= x2:R= x3:R= cid:I= s:R=0.5 ocid:I=-1 s1:R=0 s2:R=0 s3:R=0 | bush
PBUSH   pid:I words:A+                                                   | stiffness and damping of bushes
CELAS1  eid:I pid:I=eid g1:I= c1:I=0 g2:I= c2:I=0                        | spring
CELAS2  eid:I k:R=0 g1:I= c1:I=0 g2:I= c2:I=0 ge:R=0 s:R=0               | spring with its stiffness
PELAS   pid1:I k1:R=0 ge1:R=0 s1:R=0 pid2:I= k2:R=0 ge2:R=0 s2:R=0       | stiffness of springs
CELAS3  eid:I pid:I=eid g1:I= g2:I=                                      | spring between scalar points
CELAS4  eid:I k:R=0 g1:I= g2:I=                                          | spring of scalar points with its stiffness
CMASS1  eid:I pid:I=eid g1:I= c1:I=0 g2:I= c2:I=0                        | mass on a component
CMASS2  eid:I m:R=0 g1:I= c1:I=0 g2:I= c2:I=0                            | mass on a component with its value
CMASS3  eid:I pid:I=eid g1:I= g2:I=                                      | mass on a scalar point
CMASS4  eid:I m:R=0 g1:I= g2:I=                                          | mass on a scalar point with its value
PMASS   pid1:I m1:R=0 pid2:I= m2:R=0 pid3:I= m3:R=0 pid4:I= m4:R=0        | values of masses
CDAMP1  eid:I pid:I=eid g1:I= c1:I=0 g2:I= c2:I=0                        | damper
CDAMP2  eid:I b:R=0 g1:I= c1:I=0 g2:I= c2:I=0                            | damper with its coefficient
CDAMP3  eid:I pid:I=eid g1:I= g2:I=                                      | damper between scalar points
CDAMP4  eid:I b:R=0 g1:I= g2:I=                                          | damper of scalar points, with its coefficient
PDAMP   pid1:I b1:R=0 pid2:I= b2:R=0 pid3:I= b3:R=0 pid4:I= b4:R=0        | coefficients of dampers
CVISC   eid:I pid:I=eid g1:I g2:I                                        | damper along a line
PVISC   pid1:I ce1:R=0 cr1:R=0 - pid2:I= ce2:R=0 cr2:R=0                  | coefficients of dampers along lines
DMIG    name:S words:A+                                                  | matrix on components
CSHEAR  eid:I pid:I=eid g1:I g2:I g3:I g4:I                              | shear panel
PSHEAR  pid:I mid:I t:R nsm:R=0 f1:R=0 f2:R=0                            | section of shear panels
RBE2    eid:I gn:I cm:C nodes:X+                                         | rigid element
RBE3    eid:I - refgrid:I refc:C terms:A+                                | weighted mean
RBAR    eid:I ga:I gb:I cna:C= cnb:C= cma:C= cmb:C= alpha:R=              | rigid bar
ASET    g1:I c1:C= g2:I= c2:C= g3:I= c3:C= g4:I= c4:C=                     | components that keep their inertia
ASET1   c:C= ids:T*                                                      | components that keep their inertia
BSET    g1:I c1:C= g2:I= c2:C= g3:I= c3:C= g4:I= c4:C=                     | as ASET
BSET1   c:C= ids:T*                                                      | as ASET1
OMIT    g1:I c1:C= g2:I= c2:C= g3:I= c3:C= g4:I= c4:C=                     | components that follow as in statics
OMIT1   c:C= ids:T*                                                      | components that follow as in statics
QSET    g1:I c1:C= g2:I= c2:C= g3:I= c3:C= g4:I= c4:C=                     | coordinates of modes in a reduction
QSET1   c:C= ids:T*                                                      | coordinates of modes in a reduction
SUPORT  terms:I*                                                         | reference of free bodies
DLOAD   sid:I s:R terms:X+                                               | combination of loads over frequency or time
RLOAD1  sid:I exciteid:I delay:X= dphase:X= tc:X= td:X= type:A=LOAD \
                                                                         | load over the frequency, by its parts
RLOAD2  sid:I exciteid:I delay:X= dphase:X= tb:X= tp:X= type:A=LOAD       | load over the frequency, by size and phase
TLOAD1  sid:I exciteid:I delay:X= type:A=LOAD tid:X= us0:R=0 vs0:R=0      | load over time, by a table
TLOAD2  sid:I exciteid:I delay:X= type:A=LOAD t1:R=0 t2:R=0 f:R=0 p:R=0 c:R=0 b:R=0 us0:R=0 vs0:R=0 | load over time
DAREA   sid:I p1:I c1:I=0 a1:R=0 p2:I= c2:I=0 a2:R=0                      | where loads over frequency or time act
DELAY   sid:I p1:I c1:I=0 t1:R=0 p2:I= c2:I=0 t2:R=0                      | delays of loads by grid points
DPHASE  sid:I p1:I c1:I=0 t1:R=0 p2:I= c2:I=0 t2:R=0                      | phases of loads by grid points
LSEQ    sid:I darea:I lid:I= tid:I=                                      | load sets as loads over frequency or time
EIGC    sid:I method:S= norm:S= g:I= c:C= e:R= nd0:I= - rows:A+            | complex modes
NLPARM  id:I ninc:I=10 dt:R= kmethod:S= kstep:I= maxiter:I= conv:S= intout:S= options:A* \
                                                                         | increments of nonlinear statics
FREQ    sid:I f:R*                                                       | frequencies
FREQ1   sid:I f1:R=0 df:R ndf:I=1                                         | equally spaced frequencies
FREQ2   sid:I f1:R f2:R nf:I=1                                           | frequencies of equal ratio
FREQ3   sid:I f1:R f2:R=f1 type:S=LINEAR nef:I=10 cluster:R=1             | frequencies between those of modes
FREQ4   sid:I f1:R=0 f2:R=1e20 fspd:R=0.1 nfm:I=3                         | frequencies about those of modes
FREQ5   sid:I f1:R=0 f2:R=1e20 fr:R*                                      | fractions of the frequencies of modes
TSTEP   sid:I terms:X+                                                   | time steps
TABLED1 tid:I xaxis:S=LINEAR yaxis:S=LINEAR extrap:I=0 - - - - rows:A+    | table of a function
TABLED2 tid:I x1:R=0 extrap:I=0 - - - - - rows:A+                         | table of a function, shifted
TABLED3 tid:I x1:R=0 x2:R=1 extrap:I=0 - - - - rows:A+                    | table of a function, shifted and scaled
TABLED4 tid:I x1:R=0 x2:R=1 x3:R x4:R - - - rows:A+                       | function by a polynomial
TABDMP1 tid:I type:S=G - - - - - - rows:A+                               | damping of modes over the frequency
"""


def _cards() -> dict[str, CardKind]:
    out = {}
    for row in _SPECS.replace("\\\n", "").strip().splitlines():
        spec, _, text = row.partition("|")
        name, _, fields = spec.strip().partition(" ")
        out[name] = CardKind(name, fields.strip(), text.strip())
    return out


#: Name -> entry that is read.
CARDS = _cards()
