"""Steady vibrations of a deck: what shakes, in which phase, and by which amplitude over the frequency.

The loads of a step STEADY STATE DYNAMICS shake, and those supports that have a value there or that a base motion takes
along.  Supports that shake in some step are motions of the model, at rest in all other steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.decks.abaqus.time import Given
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import BaseMotion, Boundary, Cload, DeckStep, Dload, Dsload
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["VIBRATION", "Shake", "load_parts", "make_vibrations", "shaken_supports"]

#: The procedure.
VIBRATION = "STEADY STATE DYNAMICS"
#: Rows of a spectrum that is given by an acceleration.
_ROWS = 4000
#: Shapes that are kept: all, since every frequency may be printed.
_ALL = 10**9


@dataclass(frozen=True)
class Shake:
    """How a load or support shakes.

    size: of its real or ``imaginary`` part, with an ``amplitude`` over the frequency its factor; ``acceleration``: it
    is one, of a support.
    """

    size: float
    amplitude: str | None = None
    imaginary: bool = False
    acceleration: bool = False


def load_parts(step: DeckStep) -> list[tuple[DeckStep, Shake]]:
    """Return the step with the loads of one phase and one amplitude over the frequency each, and these.

    Raises:
        UnsupportedError: a load has two amplitudes, or the step a centrifugal load.
    """
    lists: dict[str, tuple[Cload | Dload | Dsload, ...]] = {
        "cloads": step.cloads, "dloads": step.dloads, "dsloads": step.dsloads
    }  # fmt: skip
    for load in step.dloads:
        if load.kind == "centrifugal":
            raise UnsupportedError(
                "a CENTRIF load does not vibrate", place=load.where, remedy="give it in the step before"
            )
    kinds = list(dict.fromkeys((e.amplitude, e.imaginary) for entries in lists.values() for e in entries))
    if len({amplitude for amplitude, _ in kinds}) > 1:
        _check_amplitudes(step)
    found = []
    for amplitude, imaginary in kinds:
        kind = (amplitude, imaginary)
        own: dict[str, Any] = {
            name: tuple(replace(e, amplitude=None) for e in entries if (e.amplitude, e.imaginary) == kind)
            for name, entries in lists.items()
        }
        found.append((replace(step, **own), Shake(1.0, amplitude, imaginary)))
    return found


def _check_amplitudes(step: DeckStep) -> None:
    """Refuse a load that is given with two amplitudes, of which only the last would count."""
    seen: dict[tuple, str | None] = {}
    loads: tuple[Cload | Dload | Dsload, ...] = (*step.cloads, *step.dloads, *step.dsloads)
    for load in loads:
        places: Any = getattr(load, "nodes", getattr(load, "elements", None))
        label = getattr(load, "dof", getattr(load, "label", None))
        for place in [load.surface] if isinstance(load, Dsload) else np.asarray(places).tolist():
            key = (type(load), label, place, load.imaginary)
            if seen.setdefault(key, load.amplitude) != load.amplitude:
                raise UnsupportedError(
                    "a load that is given twice with different amplitudes over the frequency is not supported",
                    place=load.where, remedy="give it once",
                )  # fmt: skip


def shaken_supports(
    conv: Conversion, held: Sequence[list[Given]], of_step: Sequence[list[tuple[Boundary, np.ndarray]]]
) -> np.ndarray:
    """Return keys (m,), six per node, of the supports that shake in some step; make them motions of the model.

    Args:
        held: supports that general steps know, which must be at rest.
        of_step: of each step the supports that have a value there, with their keys.

    Raises:
        UnsupportedError: they move in general steps, turn, depend on others or stand in local axes.
    """
    shakes: dict[int, dict[int, list[Shake]]] = {}
    where: dict[int, str] = {}
    for i, step in enumerate(conv.deck.steps):
        if step.procedure != VIBRATION or not step.supported:
            continue
        for boundary, keys in of_step[i]:
            _no_velocity(boundary)
            shake = Shake(boundary.value, boundary.amplitude, boundary.imaginary, boundary.kind == "ACCELERATION")
            _enter(shakes, where, i, keys, shake, boundary.where)
        for base in step.base_motions:
            _no_velocity(base)
            keys = (
                np.unique(np.concatenate([g.keys for g in held[0]] + [np.empty(0, int)])) if held else np.empty(0, int)
            )
            shake = Shake(1.0, base.amplitude, False, base.kind == "ACCELERATION")
            _enter(shakes, where, i, keys[keys % 6 == base.dof - 1], shake, base.where)
    keys = np.array(sorted(shakes), int)
    if not len(keys):
        return keys
    _check(conv, keys, where, held)
    groups: dict[tuple, list[int]] = {}
    for key in keys.tolist():
        groups.setdefault((key % 6, tuple((i, tuple(s)) for i, s in shakes[key].items())), []).append(key)
    for number, ((dof, courses), mine) in enumerate(groups.items(), 1):
        name = f"shaking support {number} {'xyz'[dof]}"
        conv.places[name] = where[mine[0]]
        nodes: Any = np.array(mine) // 6
        conv.model.motion(name, nodes, "xyz"[dof], 0.0)
        for i, found in courses:
            conv.shaken.setdefault(i, {})[name] = found
    return keys


def _no_velocity(motion: Boundary | BaseMotion) -> None:
    """Refuse velocities of what shakes."""
    if motion.kind == "VELOCITY":
        raise UnsupportedError(
            f"motions of TYPE=VELOCITY in {VIBRATION} are not supported", place=motion.where,
            remedy="give the displacement or the acceleration",
        )  # fmt: skip


def _enter(shakes: dict, where: dict[int, str], i: int, keys: np.ndarray, shake: Shake, place: str) -> None:
    """Enter how supports shake in step i; a later value of the same phase takes the place of an earlier one."""
    if not len(keys):
        raise ModelError("nothing is held in the direction of the base motion", place=place, remedy="add *BOUNDARY")
    for key in keys.tolist():
        of_step = shakes.setdefault(key, {}).setdefault(i, [])
        of_step[:] = [s for s in of_step if s.imaginary != shake.imaginary] + [shake]
        where.setdefault(key, place)


def _check(conv: Conversion, keys: np.ndarray, where: dict[int, str], held: Sequence[list[Given]]) -> None:
    _, local = conv.transform_of(keys // 6)
    moving = [g.keys[g.values != 0.0] for entries in held for g in entries]
    moves = np.isin(keys, np.concatenate([*moving, np.empty(0, int)]))
    for key, turned, moved in zip(keys.tolist(), local.tolist(), moves.tolist(), strict=True):
        node, dof = divmod(key, 6)
        why = ""
        if dof > 2:
            why = "turns"
        elif turned:
            why = "stands in the axes of a *TRANSFORM"
        elif (node, dof) in conv.dependent:
            why = f"depends on others in {conv.dependent[node, dof]}"
        elif moved:
            why = "also moves in a step over time"
        if why:
            raise UnsupportedError(
                f"the support of node {conv.name_of(node)} in direction {dof + 1} vibrates and {why}, which is not "
                "supported", place=where[key], remedy="give such a step a deck of its own",
            )  # fmt: skip


def make_vibrations(
    conv: Conversion, index: int, name: str, preload: str, loads: dict[str, Shake], options: dict[str, Any]
) -> None:
    """Add steady vibrations under the ``loads`` and shaking supports of a step; ``options``: of its modes, or none.

    Raises:
        ModelError: nothing shakes.
    """
    step = conv.deck.steps[index]
    shakes: dict[str, list[Shake]] = {load: [shake] for load, shake in loads.items()} | conv.shaken.get(index, {})
    if not shakes:
        raise ModelError(
            "the STEADY STATE DYNAMICS step has no loads", place=step.where, remedy="give them in the step"
        )
    frequencies = step.data.tolist()
    options = {"loads": list(shakes), "preload": preload, "frames": _ALL, **options}
    if step.between is not None:
        options["intervals"] = {"n": step.between[0], "bias": step.between[1]}
        if not step.scaled:
            conv.note(
                f"{step.where}: the frequencies between natural ones are spread over a linear scale, as in CalculiX "
                "(Abaqus takes a logarithmic one without FREQUENCY SCALE=LINEAR)",
                Effect.DIFFERS,
            )
    amplitudes, phases, spectra = {}, {}, {}
    for load, found in shakes.items():
        if all(s.amplitude is None for s in found):
            value = sum(s.size * (1j if s.imaginary else 1.0) for s in found)
            amplitudes[load], phases[load] = float(abs(value)), float(np.rad2deg(np.angle(value)))
        elif len(found) > 1:
            raise UnsupportedError(
                "a support with real and imaginary parts over the frequency is not supported",
                place=conv.places[load], remedy="give its size and phase without AMPLITUDE",
            )  # fmt: skip
        else:
            spectra[load] = _spectrum(conv, found[0], frequencies[0], frequencies[-1])
    given: dict[str, Any] = {"amplitudes": amplitudes, "phases": phases, "spectra": spectra}
    conv.model.harmonic_step(frequencies, name, **options, **{k: v for k, v in given.items() if v})


def _spectrum(conv: Conversion, shake: Shake, lowest: float, highest: float) -> list[list[float]]:
    """Return rows of frequency, size and phase [degrees] of a shake with an amplitude over the frequency."""
    assert shake.amplitude is not None
    amplitude = conv.deck.amplitudes[shake.amplitude]
    if amplitude.definition != "TABULAR":
        raise UnsupportedError(
            f"the amplitude {amplitude.name} over the frequency has DEFINITION={amplitude.definition}",
            place=amplitude.where, remedy="give it as a table of frequencies and values",
        )  # fmt: skip
    f = np.concatenate(([lowest, highest], amplitude.t))
    if shake.acceleration:
        if not lowest > 0.0:
            raise ModelError("an acceleration has no finite displacement at 0 Hz", place=amplitude.where,
                             remedy="begin above it")  # fmt: skip
        f = np.concatenate((f[f > 0.0], np.geomspace(lowest, max(highest, lowest * 1.001), _ROWS)))
    f = np.unique(f)
    size = shake.size * np.interp(f, amplitude.t, amplitude.value)
    if shake.acceleration:
        size = -size / (2.0 * np.pi * f) ** 2
    phase = np.full(len(f), 90.0 if shake.imaginary else 0.0)
    return np.column_stack((f, size, phase)).tolist()
