"""Steps of rotating machines in a run: Campbell diagrams, responses to unbalance."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from fem_mbs.analysis.rotors.campbell import Critical, Spinning, critical_speeds, follow
from fem_mbs.analysis.rotors.rotating import FRAMES
from fem_mbs.analysis.rotors.unbalance import steady_response
from fem_mbs.analysis.solution import Progress
from fem_mbs.elements.springs.bearing import ROW
from fem_mbs.errors import ModelError
from fem_mbs.model.model import CompiledModel, Step
from fem_mbs.model.step_values import unbalances_of

__all__ = ["CAMPBELL_OPTIONS", "UNBALANCE_OPTIONS", "RotorRuns", "check_rotor_step"]

#: Options of a Campbell step and their defaults.
CAMPBELL_OPTIONS: dict[str, Any] = {
    "rotor": "",
    "speeds": None,  # [rad/s], increasing
    "count": 6,  # modes to follow
    "orders": None,  # of the excitation, for critical speeds; None: unbalance
    "frame": "auto",
}
#: Options of an unbalance step and their defaults.
UNBALANCE_OPTIONS: dict[str, Any] = {
    "rotor": "",
    "speeds": None,
    "unbalances": None,  # each {at, amount [kg m], phase [rad]}
    "at": None,  # places to look at; None: where the unbalances are
    "frame": "auto",
}

_TOLERANCE = 1e-6  # between critical speeds of branches and those of the direct search


def check_rotor_step(owner: str, kind: str, options: dict[str, Any], model) -> None:
    """Refuse options that make no sense, before anything is computed.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    if not options["rotor"]:
        raise ModelError(f"{owner}: it needs the name of what turns; add rotor, and a rotor to the model")
    model.building.find("rotor", options["rotor"], model.rotors, f"{owner}: rotor")
    if options["frame"] not in FRAMES:
        raise ModelError(f"{owner}: frame = {options['frame']!r} must be one of {', '.join(FRAMES)}")
    if kind == "campbell" and len(options["speeds"]) < 2:
        raise ModelError(
            f"{owner}: speeds = {list(options['speeds'])} must be at least two, since branches are followed from one "
            "to the next; for one speed take a step of complex modes"
        )
    pressed = [b.groups[0][0] for b in model.building.blocks if any(b.reads or ())]
    if pressed:
        raise ModelError(
            f'{owner}: friction "{pressed[0]}" depends on the force of its joint, which {kind} steps do not know; map '
            "the stability over the rotor's speed (stability_map), or take the friction between points"
        )
    if model.building.rotating is not None:
        raise ModelError(
            f'{owner}: centrifugal load "{model.building.rotating.name}" would count twice, since the rotor turns '
            "here; remove the load"
        )
    at = [] if options.get("at") is None else options["at"]
    if options.get("at") is not None and not len(at):
        raise ModelError(f"{owner}: at names no place; leave it out, or name some")
    for place in [at] if isinstance(at, str) else at:
        model.nodes_of(place, owner)


class RotorRuns:
    """Rotor steps of one run (`fem_mbs.analysis.run._Run`), which stays in its state."""

    def __init__(self, run: Any):
        self.run = run

    def _spinning(self, options: dict[str, Any], speeds: np.ndarray) -> Spinning:
        spinning = Spinning(self.run, self.run.model.rotors[options["rotor"]], options["frame"])
        spinning.settle(speeds)
        return spinning

    def _progress(self, step: Step, total: int):
        if self.run.progress is None:
            return None
        return lambda done: self.run.progress(Progress(step.name, done, total, self.run.t, 0.0, 0.0))

    def campbell(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Return eigenvalues over the speed: one row per speed."""
        began = perf_counter()
        speeds = np.asarray(options["speeds"], float)
        spinning = self._spinning(options, speeds)
        found = follow(spinning, speeds, options["count"], self._progress(step, len(speeds)))
        frame = found.spectra[0].lin.frame
        orders = options["orders"]
        if orders is None:
            orders = [0.0] if frame == "rotating" else [1.0]
        critical = critical_speeds(spinning, found, list(orders))
        p = np.where(found.values.imag < 0.0, found.values.conj(), found.values)
        senses = [[s.whirl(pair) for s, pair in zip(found.spectra, row, strict=True)] for row in found.pairs]
        self.run.recorder.append(
            {"time": speeds, "frequency": p.imag.T / (2.0 * np.pi), "growth rate": p.real.T.copy()}, None
        )
        return {
            "type": "campbell", "name": step.name, "rotor": options["rotor"], "frame": frame,
            "speeds": speeds.tolist(), "orders": [float(k) for k in orders],
            "branches": [
                {"eigenvalues": [[float(v.real), float(v.imag)] for v in row], "whirl": sense}
                for row, sense in zip(p, senses, strict=True)
            ],
            "critical_speeds": [_critical_entry(c) for c in critical],
            "stable": [s.stable for s in found.spectra],
            "largest_residual": max(float(s.residuals.max(initial=0.0)) for s in found.spectra),
            "biorthogonality": max(s.biorthogonality for s in found.spectra),
            "seconds": round(perf_counter() - began, 4),
            "warnings": _warnings(found.lost, critical, frame) + _outside(self.run.compiled, speeds),
        }  # fmt: skip

    def unbalance(self, step: Step, options: dict[str, Any]) -> dict[str, Any]:
        """Return amplitudes and phases over the speed: one row per speed."""
        began = perf_counter()
        model, owner = self.run.model, f'Step "{step.name}"'
        speeds = np.asarray(options["speeds"], float)
        unbalances = unbalances_of(model.building, options["unbalances"], owner)
        at = [u.node for u in unbalances] if options["at"] is None else options["at"]
        nodes = np.array(list(dict.fromkeys(model.nodes_of(at, owner).tolist())))
        spinning = self._spinning(options, speeds)
        found = steady_response(spinning, speeds, unbalances, nodes, owner, self._progress(step, len(speeds)))
        X = found.displacements
        response = []
        rows = [(d, X[:, :, i]) for i, d in enumerate("xyz"[: model.dimension])] + [("major", found.major())]
        for k, node in enumerate(nodes):
            for direction, values in rows:
                if direction != "major" and not np.abs(values[:, k]).max() > 1e-9 * np.abs(X[:, k]).max():
                    continue  # along the axis nothing moves
                response.append({
                    "at": model.node_name(int(node)), "direction": direction,
                    "amplitude": np.abs(values[:, k]).tolist(),
                    "phase": None if direction == "major" else np.angle(values[:, k]).tolist(),
                })  # fmt: skip
        self.run.recorder.append(
            {"time": speeds, "displacement": np.abs(X), "phase": np.angle(X), "major": found.major()}, None
        )
        return {
            "type": "unbalance", "name": step.name, "rotor": options["rotor"], "frame": spinning.settled or "fixed",
            "speeds": speeds.tolist(), "response": response, "seconds": round(perf_counter() - began, 4),
            "warnings": _outside(self.run.compiled, speeds),
        }  # fmt: skip


def _outside(compiled: CompiledModel, speeds: np.ndarray) -> list[str]:
    """Return bearings whose tables do not reach the speeds."""
    out = []
    for block in compiled.system.blocks:
        if not block.type.name.startswith("bearing"):
            continue
        first = block.type.column("rows")
        for i in range(block.size):
            rows = int(block.par[i, first])
            low, high = block.par[i, first + 1], block.par[i, first + 1 + ROW * (rows - 1)]
            if rows > 1 and (speeds[0] < low or speeds[-1] > high):
                out.append(
                    f'the table of bearing "{block.label(i)}" goes from {low:g} to {high:g} rad/s; beyond it has '
                    "constant values"
                )
    return out


def _critical_entry(c: Critical) -> dict[str, Any]:
    return {
        "speed": c.speed, "branch": c.branch, "whirl": c.whirl, "order": float(c.order),
        "eigenvalue": [float(c.value.real), float(c.value.imag)],
        "direct": None if c.direct is None else [float(c.direct.real), float(c.direct.imag)],
    }  # fmt: skip


def _warnings(lost: list[tuple[int, float]], critical: list[Critical], frame: str) -> list[str]:
    out = []
    for b in sorted({b for b, _ in lost}):
        at = [speed for branch, speed in lost if branch == b]
        out.append(
            f"branch {b + 1} could not be told from others at {at[0]:g} rad/s"
            + (f" and {len(at) - 1} more speeds" if len(at) > 1 else "")
            + "; take smaller intervals there"
        )
    for c in critical:
        undamped = abs(c.value.real) <= 1e-8 * abs(c.value)
        if c.direct is not None and undamped and abs(c.direct - c.speed) > _TOLERANCE * c.speed:
            out.append(
                f"the critical speed {c.speed:.9g} rad/s is {c.direct.real:.9g} by the direct search; take smaller "
                "intervals"
            )
        if c.branch is None and c.whirl != "none":
            out.append(
                f"the critical speed {c.speed:.9g} rad/s lies on no branch that was followed; ask for more modes"
            )
    if frame == "rotating":
        out.append(
            "eigenvalues are those in the rotating frame, where unbalance rests: what has the frequency f there has "
            "f + n or f - n seen from outside, at n turns per second"
        )
    return out
