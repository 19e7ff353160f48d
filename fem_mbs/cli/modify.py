"""Find the parameters of components that bring a mode to a frequency (`fem-mbs modify`)."""

from __future__ import annotations

import json as writer
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.analysis.components.modification import Answer, Combination, Modification
from fem_mbs.analysis.components.parameters import default_parameters
from fem_mbs.analysis.components.synthesis import Assembly, assemble_components
from fem_mbs.decks.formats import is_deck
from fem_mbs.errors import AnalysisError, InputError, ModelError
from fem_mbs.modelfile.read import load_model, locate_error
from fem_mbs.units import Units, messages_in, unit_of

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["modify_file"]

#: Cut-off of the components over the highest frequency asked for, unless one is given; Hutton & Smith's table has
#: errors below 1 % up to 0.9 of it.
_ABOVE = 3.0
#: Changes of one parameter beyond a hundredfold are no answers.
_MOST = 99.0
_FEW = "modes of the changed component that lie below the frequency then are left out; keep more modes, or --verify"
_ROUGH = "in the modes of the baseline, from which those of the changed components lie too far; keep more modes"


def modify_file(
    path: Path, console: Console, modes: list[int], targets: list[float], parameters: list[str], cutoff: float | None,
    count: int | None, verify: bool, json: Path | None,
) -> None:  # fmt: skip
    """Compute sensitivities and changes, print tables, and write them to ``json``.

    Raises:
        ModelError: wrong options, or parameters and modes that do not exist; AnalysisError: no modes.
    """
    if is_deck(path):
        raise ModelError(f"{path}: decks name no components; modify takes model files with [[component]]")
    if not modes or len(modes) != len(targets):
        raise ModelError("modify: give --mode and --to, as often as each other")
    if len(set(modes)) < len(modes):
        raise ModelError("modify: every --mode can be given once")
    if cutoff is not None and count is not None:
        raise ModelError("modify: --cutoff and --modes exclude each other; remove one")
    model = load_model(path)
    with messages_in(model.shown_units):
        hertz = unit_of("Hz")
        try:
            for target in targets:
                Modification.eigenvalue_of(target)
            cutoff = _ABOVE * max(targets) if cutoff is None and count is None else cutoff
            start = perf_counter()
            assembly = assemble_components(model, cutoff=cutoff, modes=count)
            baseline = perf_counter() - start
            study = Modification(assembly, parameters or default_parameters(model))
            found = _answers(study, dict(zip(modes, targets, strict=True)), verify)
        except AnalysisError as error:
            raise type(error)(f"{path}: {error}") from None
        except InputError as error:
            raise locate_error(path, error) from None
    found["baseline_seconds"] = baseline
    _print(console, study, found, cutoff, model.shown_units or Units())
    if json is not None:
        json.parent.mkdir(parents=True, exist_ok=True)
        json.write_text(writer.dumps(_plain(study, found, cutoff), indent=1) + "\n", encoding="utf-8")
    if found["together"] is None and all(row[1] is None for rows in found["singles"].values() for row in rows):
        wanted = ", ".join(f"mode {mode} to {target:g} {hertz}" for mode, target in zip(modes, targets, strict=True))
        raise AnalysisError(
            f"{path}: no change of these parameters brings {wanted}; ask for less, or let others change"
        )


def _answers(study: Modification, required: dict[int, float], verify: bool) -> dict:
    """Return sensitivities, solutions for single parameters, the least change of all, and their verification."""
    frequencies = study.frequencies
    sensitivities = study.sensitivities()
    singles: dict[int, list[tuple[int, Answer | None, float | None, bool]]] = {}
    for mode, target in required.items():
        singles[mode] = []
        for k in np.argsort(-np.abs(sensitivities[:, study.mode_index(mode)]), kind="stable"):
            answer, rough = _single(study, int(k), mode, target)
            exact = None
            if verify and answer is not None:
                exact = float(study.full({answer.parameter.name: answer.alpha}, answer.mode)[-1])
            singles[mode].append((int(k), answer, exact, rough))
    together, failure, exact, seconds, rough = None, "", None, None, False
    for anew in (True, False):
        try:
            together, rough = study.combination(required, anew=anew), not anew
            break
        except AnalysisError as error:
            failure = str(error)
    if together is not None:
        start = perf_counter()
        study.synthesis(together.alphas)
        seconds = perf_counter() - start
        if verify:
            exact = study.full(together.alphas, max(together.modes))
    return {
        "required": required, "frequencies": frequencies, "sensitivities": sensitivities, "singles": singles,
        "together": together, "failure": failure, "full": exact, "seconds": seconds, "rough": rough,
        "full_baseline": study.assembly.full_modes(max(required)) if verify else None,
    }  # fmt: skip


def _single(study: Modification, k: int, mode: int, target: float) -> tuple[Answer | None, bool]:
    """Return the solution for one parameter with new modes of the changed components, and whether it uses the
    baseline's modes because the new ones are too far away."""
    answer = study.answer(k, mode, target)
    if answer is None or answer.alpha > _MOST:
        return None, False
    try:
        anew = study.answer(k, mode, target, anew=True)
    except AnalysisError:
        anew = None
    return (answer, True) if anew is None else (anew, False)


def _beyond(study: Modification, answer: Answer) -> bool:
    """Return whether a changed component keeps only modes below the frequency, so that the solution lacks some."""
    new = study.synthesis({answer.parameter.name: answer.alpha})
    limit = float(2.0 * np.pi * answer.frequencies[answer.mode - 1]) ** 2
    for old, now in zip(study.assembly.coupled.parts, new.coupled.parts, strict=True):
        values = now.modes.values
        highest = now.modes.next_value if np.isfinite(now.modes.next_value) else values.max(initial=-np.inf)
        if now is not old and np.isfinite(highest) and highest < limit:
            return True
    return False


# --- tables ----------------------------------------------------------------------------------------------------------
def _print(console: Console, study: Modification, found: dict, cutoff: float | None, units: Units) -> None:
    from rich.markup import escape
    from rich.table import Table

    def show(table: Table) -> None:
        console.print(table)

    assembly: Assembly = study.assembly
    hertz = units.of("Hz")
    kept = ", ".join(f"{name} {n}" for name, n in assembly.kept.items())
    how = f"cut-off {hertz(cutoff):g} {hertz.unit}" if cutoff is not None else "modes by number"
    console.print(
        f"{assembly.dofs} dofs in {len(assembly.parts)} components, {assembly.coupled.size} modes kept ({how}): {kept}",
        markup=False, soft_wrap=True,
    )  # fmt: skip
    full = found["full_baseline"]
    for mode, target in found["required"].items():
        exact = "" if full is None else f" (whole model: {hertz(full[mode - 1]):.6g} {hertz.unit})"
        now, wanted = hertz(found["frequencies"][mode - 1]), f"{hertz(target):g} {hertz.unit}"
        console.print(f"mode {mode}: {now:.6g} {hertz.unit}{exact} -> {wanted}", markup=False)
        table = Table(title=f"One parameter at a time: mode {mode} to {wanted}", title_justify="left")
        heads = ["parameter", "sensitivity", "value", "change", "new value", f"modes next to it [{hertz.unit}]"]
        for head in heads + ([f"whole model [{hertz.unit}]"] if full is not None else []):
            table.add_column(head, justify="left" if head == "parameter" else "right")
        poor = False
        for k, answer, exact, rough in found["singles"][mode]:
            p = study.parameters[k]
            few = answer is not None and not rough and _beyond(study, answer)
            poor = poor or few
            row = [p.name, f"{found['sensitivities'][k, mode - 1]:+.4f}", _value(p.value, p.unit, units)]
            if answer is None:
                row += ["none", "", ""] + ([""] if full is not None else [])
            else:
                near = [
                    f"{j}: {hertz(answer.frequencies[j - 1]):.4g}"
                    for j in range(answer.mode - 1, answer.mode + 2)
                    if 1 <= j <= answer.frequencies.size
                ]
                row += [
                    f"{'~ ' if rough else '! ' if few else ''}{100 * answer.alpha:+.4g} %",
                    _value(answer.value, p.unit, units),
                    ", ".join(near),
                ]
                row += [f"{hertz(exact):.6g}"] if full is not None and exact is not None else []
            table.add_row(*map(escape, row))
        show(table)
        if any(rough for *_, rough in found["singles"][mode]):
            console.print(f"~ {_ROUGH}", markup=False, soft_wrap=True)
        if poor:
            console.print(f"! {_FEW}", markup=False, soft_wrap=True)
    together: Combination | None = found["together"]
    if together is None:
        console.print(f"all together: {found['failure']}", markup=False, soft_wrap=True)
        return
    table = Table(title="All parameters together: the least change", title_justify="left")
    for head in ("parameter", "change", "new value"):
        table.add_column(head, justify="left" if head == "parameter" else "right")
    for p, alpha, value in zip(together.parameters, together.alphas, together.values, strict=True):
        table.add_row(escape(p.name), f"{100 * alpha:+.4g} %", _value(value, p.unit, units))
    show(table)
    if found["rough"]:
        console.print(f"all together: {_ROUGH}", markup=False, soft_wrap=True)
    seconds = found["seconds"]
    for mode in together.modes:
        exact = "" if found["full"] is None else f", whole model {hertz(found['full'][mode - 1]):.6g} {hertz.unit}"
        console.print(
            f"mode {mode} then: {hertz(together.frequencies[mode - 1]):.6g} {hertz.unit}{exact}",
            markup=False, soft_wrap=True,
        )  # fmt: skip
    base = found["baseline_seconds"]
    console.print(
        f"baseline {base:.2g} s, new modes of the changed components {seconds:.2g} s ({100 * seconds / base:.0f} %)",
        markup=False,
    )


def _value(value: float | None, unit: str, units: Units) -> str:
    shown = units.of(unit)
    return "several" if value is None else f"{shown(value):.6g} {shown.unit}".strip()


def _plain(study: Modification, found: dict, cutoff: float | None) -> dict:
    """Return the same as plain data."""
    together: Combination | None = found["together"]
    required = found["required"]
    singles = []
    for mode, (k, answer, exact, rough) in ((mode, row) for mode, rows in found["singles"].items() for row in rows):
        entry = {"parameter": study.parameters[k].name, "mode": mode, "alpha": None}
        if answer is not None:
            entry |= {
                "alpha": answer.alpha, "value": answer.value, "frequencies_hz": answer.frequencies.tolist(),
                "mode_then": answer.mode, "like": answer.like, "full_hz": exact, "baseline_modes": rough,
                "modes_lacking": not rough and _beyond(study, answer),
            }  # fmt: skip
        singles.append(entry)
    sensitivities = found["sensitivities"]
    out = {
        "required": [{"mode": m, "frequency_hz": f} for m, f in required.items()],
        "cutoff_hz": cutoff,
        "kept": study.assembly.kept,
        "dofs": study.assembly.dofs,
        "frequencies_hz": found["frequencies"].tolist(),
        "parameters": [{"name": p.name, "value": p.value, "unit": p.unit} for p in study.parameters],
        "sensitivities": [[float(v) if np.isfinite(v) else None for v in row] for row in sensitivities],
        "single": singles,
        "combination": None,
    }
    if together is not None:
        full = found["full"]
        out["combination"] = {
            "alphas": together.alphas.tolist(), "values": list(together.values), "modes": list(together.modes),
            "frequencies_hz": together.frequencies.tolist(), "iterations": together.iterations,
            "baseline_modes": found["rough"],
            "full_hz": None if full is None else full.tolist(),
        }  # fmt: skip
    return out
