"""Records into which declarations are built: bodies, joints, initial velocities, events, components, steps."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np

from fem_mbs.functions.laws import TimeFunction
from fem_mbs.late import dataclass

__all__ = [
    "Assembling",
    "Body",
    "Breaking",
    "Component",
    "Event",
    "InitialSpeed",
    "InitialVelocity",
    "JointData",
    "JointCoordinate",
    "LockData",
    "RunningStart",
    "StateVariable",
    "Step",
]


@dataclass
class Body:
    """A rigid body: node at its mass centre; for drawing ``points`` (body axes) where joints and loads act, and
    ``visuals``, surfaces (`fem_mbs.model.parts.visuals.Visual`)."""

    name: str
    node: int
    points: list[np.ndarray] = field(default_factory=list)
    visuals: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class InitialVelocity:
    """Velocities of some nodes at the start: v = velocity + spin x (x - centre), per node or the same for all.

    ``centred``: the spin turns the nodes about a point, which ``velocity`` contains.
    """

    nodes: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    centred: bool = False


@dataclass(frozen=True)
class InitialSpeed:
    """A given speed at the start: of a coordinate (0, 1, 2 for x, y, z), or of a rotation about ``axis`` against
    another node."""

    place: str | int
    node: int
    coordinate: int | None
    axis: np.ndarray | None
    against: int
    value: float


@dataclass(frozen=True)
class RunningStart:
    """A mechanism that runs at the start: the place and the node of a body of it, its velocity (dimension,), its spin
    (rotation dofs,) and the point about which it turns; None: the body."""

    place: str
    node: int
    velocity: np.ndarray
    spin: np.ndarray
    centre: np.ndarray | None


@dataclass(frozen=True)
class Event:
    """An event of a transient: sensor, value, direction, action, and the affected loads, drivers, locks or joints."""

    name: str
    sensor: str
    value: float
    direction: str
    action: str
    target: tuple[str, ...]
    function: TimeFunction | None


@dataclass(frozen=True)
class Component:
    """Groups of elements of one component of the model; number of elastic modes to keep, or up to which frequency [Hz],
    None: what the analysis says."""

    name: str
    groups: tuple[str, ...]
    modes: int | None = None
    cutoff: float | None = None


@dataclass(frozen=True)
class Assembling:
    """Request to close joints before the first step by the least change; ``hold``: places that stay."""

    hold: tuple[Any, ...] = ()


@dataclass(frozen=True)
class JointCoordinate:
    """A coordinate on which a joint moves: an angle, or a displacement, of one node against another.

    ``columns`` are the parameters that say which to the element types of that coordinate (`torsion`, `hinge`; `slide`,
    `offset`); ``start`` is what these types measure at the start, where the coordinate is zero.
    """

    angular: bool
    nodes: tuple[int, int]
    columns: dict[str, float]
    start: float = 0.0


@dataclass
class JointData:
    """A joint by its name: the elements that bear the name make it; ``measured`` are coordinates with a sensor,
    ``driven`` those that follow a function, with the name of what drives them, the joint or a motor; ``coupled`` are
    the two coordinates whose ratio a gear or screw keeps, each with its factor in that condition."""

    kind: str
    coordinates: dict[str, JointCoordinate] = field(default_factory=dict)
    measured: set[str] = field(default_factory=set)
    driven: dict[str, str] = field(default_factory=dict)
    coupled: tuple[tuple[JointCoordinate, float], tuple[JointCoordinate, float]] | None = None


@dataclass(frozen=True)
class LockData:
    """A lock on the ``coordinate`` of a joint, called ``key`` there.

    ``value``: coordinate since the start at which it holds, None: where it closes; ``ready``: while it is open it
    closes there by itself.  ``limit``, ``slip``: of a brake, largest force that it holds, and force while it slips.
    Both are multiplied by the function of time with the index ``factor`` (-1: no function).  ``breaks_at``: force
    beyond which it opens for good.  None: does not apply.
    """

    name: str
    joint: str
    key: str
    coordinate: JointCoordinate
    locked: bool
    value: float | None
    ready: bool
    limit: float | None
    slip: float | None
    breaks_at: float | None
    factor: int = -1

    @property
    def held(self) -> JointCoordinate:
        """Return the coordinate with the start value that the constraint holds."""
        return replace(self.coordinate, start=self.coordinate.start + (self.value or 0.0))

    @property
    def moves_by_itself(self) -> bool:
        """Return whether it can close or open without an event of the user."""
        return self.ready or self.limit is not None or self.breaks_at is not None


@dataclass(frozen=True)
class Breaking:
    """A joint or support (``kind``) that breaks at a force [N] or a moment [N m], or by an event alone (both None).

    ``pairs``: nodes and components that a support holds.
    """

    name: str
    kind: str
    force: float | None
    moment: float | None
    pairs: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class StateVariable:
    """A state variable of an element: the name of what has it, its own name and unit, its value at the start, and the
    size of its values, over which it is an unknown of the model."""

    of: str
    name: str
    unit: str
    initial: float
    size: float


@dataclass(frozen=True)
class Step:
    """An analysis step: ``options`` are those that the user has given, of its kind (`fem_mbs.declarations.steps`).

    ``expressed`` are options of a model file that had expressions of parameters, as they stood there.
    """

    kind: str
    name: str
    options: dict[str, Any]
    expressed: dict[str, Any] = field(default_factory=dict)
