"""Run variants of a model file in parallel: `sweep` runs them, keeps finished ones, and collects one table.

    table = sweep("model.toml", {"section.rod.diameter": [0.01, 0.012], "point_mass.tip.mass": "0:20:5"}, "out")
    table.column("modes.frequency_1")

Every variant has a folder of its own below ``out/variants``: a results folder as of `run`, ``variant.toml`` (the model
file with its values) and ``variant.json`` (values, digest, status, quantities), written by the worker at its very end.
So a sweep can be cut off anywhere; what has a record with the right digest is not computed again.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from fem_mbs.cluster import TaskFailure, TaskProgress, refuse_in_workers, run_tasks
from fem_mbs.decks.formats import is_deck
from fem_mbs.errors import AnalysisError, FemMbsError, InputError, ModelError, Owner, ResultsError
from fem_mbs.files import release, version
from fem_mbs.input_files import digest_of, moved
from fem_mbs.late import dataclass
from fem_mbs.model.fields import DisplayUnits
from fem_mbs.modelfile.read import build_model, check_model_data, load_model, locate_error, parse_model_file
from fem_mbs.modelfile.writer import model_text
from fem_mbs.results import store
from fem_mbs.results.folder import claim, examine
from fem_mbs.results.writer import clear
from fem_mbs.sweeps.names import check_names, declared_names, fits
from fem_mbs.sweeps.parameters import Parameter, Variant, changed, make_parameters, make_variants
from fem_mbs.sweeps.quantities import collect
from fem_mbs.sweeps.table import CSV, JSON, SweepParameter, SweepRow, SweepTable

__all__ = [
    "OWN", "VARIANTS", "Plan", "SweepTable", "arguments_of", "check_quantities", "opened", "plan_sweep", "read_record",
    "record_of", "run_plan", "run_variant", "sweep", "table_of", "tables_in",
]  # fmt: skip

VARIANTS, RECORD, MODEL, TOKEN = "variants", "variant.json", "variant.toml", ".running"
OWN: dict[str, Any] = {
    "kind": "sweep",
    "fixed": (JSON, CSV, VARIANTS, "optimum.toml"),
}  # files that a sweep writes into its folder
_LOOK = 2.0  # seconds between two looks whether the sweep still goes on


def sweep(
    model: str | Path,
    values: Mapping[str, Any] | Sequence[str],
    output: str | Path | None = None,
    *,
    zip: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    attempts: int = 3,
    again: bool = False,
    overwrite: bool = False,
    quantities: Sequence[str] | None = None,
    progress: Callable[[TaskProgress], None] | None = None,
) -> SweepTable:
    """Run variants of a model file in processes side by side and return the table of their results.

    Args:
        model: model file (TOML).
        values: lists of values, or texts ("0:20:5", STOP included), by path (KIND.NAME.KEY, ``point_mass.tip.mass``);
            or texts "PATH=VALUES" as on the command line.
        output: folder, by default STEM-sweep.  What an earlier call has finished there is kept, unless the model or
            the values have changed since.
        zip: pair the values instead of combining all with all.
        workers, scheduler, attempts, progress: as `fem_mbs.cluster.run_tasks`.
        again: run finished variants too.
        overwrite: take a folder of another model's sweep, or one with other files in it, too.
        quantities: which quantities sweep.csv gets (names or patterns), by default all.

    Raises:
        ModelError: of the file, the paths or the values, or no variant can have one of ``quantities``; nothing has run.
        ResultsError: the folder cannot be used, or a pattern of ``quantities`` fits nothing (the results are there).
        AnalysisError: workers do not start, or have all gone.  Variants that fail are rows of the table instead.
    """
    refuse_in_workers()
    plan = plan_sweep(model, values, output, zip=zip, again=again, overwrite=overwrite, quantities=quantities)
    table = run_plan(plan, workers=workers, scheduler=scheduler, attempts=attempts, progress=progress)
    table.write(quantities)
    return table


@dataclass
class Plan:
    """A sweep before it runs: its variants, their digests, the variants to run, and notes on existing ones."""

    file: Path
    title: str
    data: dict[str, Any]
    parameters: list[Parameter]
    variants: list[Variant]
    digests: list[str]
    directory: Path
    zipped: bool
    records: list[dict[str, Any] | None]
    notes: list[str]
    overwrite: bool = False

    @property
    def waiting(self) -> list[int]:
        """Return the numbers of the variants without a result."""
        return [k for k, record in enumerate(self.records) if record is None]


# --- before ----------------------------------------------------------------------------------------------------------
def plan_sweep(
    model: str | Path,
    values: Mapping[str, Any] | Sequence[str],
    output: str | Path | None = None,
    *,
    zip: bool = False,
    again: bool = False,
    overwrite: bool = False,
    quantities: Sequence[str] | None = None,
) -> Plan:
    """Read the model file, create the variants, and find those that the folder holds already; write nothing.

    Args:
        quantities: names or patterns that some variant must be able to have.

    Raises:
        ModelError, ResultsError: as `sweep`.
    """
    file = Path(model)
    if is_deck(file):
        raise ModelError(f"{file}: a deck has no named values to sweep; write a model file (TOML) of it")
    data = parse_model_file(file)
    checked = check_model_data(file, data)
    settings = [values] if isinstance(values, str) else values
    parameters = make_parameters(file, data, settings)
    variants = make_variants(parameters, zip)
    if quantities:
        check_quantities(file, data, parameters, variants, quantities, Owner("Sweep", file.name))
    directory = Path(output) if output is not None else Path(f"{file.stem}-sweep")
    if directory.exists() and not directory.is_dir():
        raise ResultsError(f'Sweep "{directory}": this is a file; give a folder')
    if directory.is_dir():
        examine(directory, file, "", **OWN, overwrite=overwrite)
    known: dict[Path, str] = {}
    digests = [digest_of(changed(data, parameters, v.values), file.parent, known) for v in variants]
    title = checked.top.given().get("title") or file.stem
    plan = Plan(file, title, data, parameters, variants, digests, directory, zip, [None] * len(variants), [], overwrite)
    if again:
        plan.notes.append(f"all {len(variants)} variants are run, also those that were finished")
    else:
        _keep_finished(plan)
    return plan


def check_quantities(
    file: Path,
    data: dict[str, Any],
    parameters: list[Parameter],
    variants: list[Variant],
    asked: Sequence[str],
    owner: Owner,
) -> None:
    """Refuse names that no variant can have; variants that differ by numbers alone have the same names.

    Raises:
        ModelError: naming those that are near.
    """
    declared: dict[str, None] = {}
    seen = set()
    for variant in variants:
        words = tuple(repr(v) for v in variant.values if isinstance(v, bool) or not isinstance(v, (int, float)))
        if words in seen:
            continue
        seen.add(words)
        try:
            model = build_model(check_model_data(file, changed(data, parameters, variant.values)))
            found = declared_names(model.compile(stepping=False))
        except InputError:
            return  # the run of the variant tells what is wrong; others may have the name
        declared |= dict.fromkeys(found)
        if all(any(fits(name, known) for known in declared) for name in asked):
            return
    check_names(asked, list(declared), owner)


def _keep_finished(plan: Plan) -> None:
    """Find the variants that an earlier call has finished, and note the remaining ones."""
    failed = different = older = gone = 0
    for k, (variant, digest) in enumerate(zip(plan.variants, plan.digests)):
        record = read_record(plan.directory / VARIANTS / variant.name)
        if record is None:
            continue
        if record["digest"] != digest:
            different += 1
        elif release(record["version"]) != release():
            older += 1
        elif record["status"] != "done":
            failed += 1
        elif not store.is_there(plan.directory / VARIANTS / variant.name):
            gone += 1
        else:
            plan.records[k] = record
    kept = sum(record is not None for record in plan.records)
    if kept:
        plan.notes.append(f"{kept} of {len(plan.variants)} variants are there already and are kept")
    if failed:
        plan.notes.append(f"{failed} failed before and {'is' if failed == 1 else 'are'} tried again")
    if gone:
        plan.notes.append(f"the results of {gone} finished variants are missing: run again")
    if different:
        plan.notes.append(
            f"the model file (or a mesh or table that it names) has changed since {different} of the variants "
            f"{'was' if different == 1 else 'were'} run: run again"
        )
    if older:
        plan.notes.append(
            f"{older} of the variants {'was' if older == 1 else 'were'} run by another version of fem-mbs than this, "
            f"{release()}: run again"
        )
    if (plan.directory / VARIANTS).is_dir():
        names = {variant.name for variant in plan.variants}
        others = sum(p.name not in names for p in (plan.directory / VARIANTS).iterdir() if (p / RECORD).is_file())
        if others:
            plan.notes.append(f"{others} variants in the folder have other values and stay out of the table")


def read_record(folder: Path) -> dict[str, Any] | None:
    """Return the record of a variant, None if it did not end."""
    try:
        record = store.read_json(folder / RECORD)
    except ResultsError:
        return None
    keys = {"digest", "version", "status", "reason", "seconds", "quantities"}
    return record if isinstance(record, dict) and keys <= record.keys() else None


# --- running ---------------------------------------------------------------------------------------------------------
def run_plan(
    plan: Plan,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    attempts: int = 3,
    progress: Callable[[TaskProgress], None] | None = None,
) -> SweepTable:
    """Run the remaining variants of a plan; return the table, which is also written (sweep.json, sweep.csv) when the
    run is interrupted.

    Raises:
        InputError, AnalysisError: as `sweep`.
    """
    with opened(plan) as (token, mark):
        waiting = plan.waiting

        failed = 0

        def ended(p: TaskProgress) -> None:
            nonlocal failed
            if p.index is not None:
                plan.records[waiting[p.index]] = record_of(plan, waiting[p.index], p.result)
                if isinstance(p.result, dict) and p.result["status"] == "failed":
                    failed += 1
            if progress is not None:
                # a variant that failed is a result to the cluster, and a failure to the sweep
                progress(_counted(p, failed))

        run_tasks(
            run_variant,
            [arguments_of(plan, k, token, mark) for k in waiting],
            workers=workers,
            scheduler=scheduler,
            attempts=attempts,
            progress=ended,
            errors="return",
        )
    return table_of(plan)


@contextlib.contextmanager
def opened(plan: Plan) -> Iterator[tuple[Path, str]]:
    """Take the folder of a plan, and write its table at the end, whatever happens; yields the file by which workers see
    that it goes on, and its content.

    Raises:
        ResultsError: the folder cannot be used.
    """
    root = plan.directory / VARIANTS
    try:
        plan.directory.mkdir(parents=True, exist_ok=True)
        claim(plan.directory, plan.file, "", **OWN, overwrite=plan.overwrite)
        root.mkdir(exist_ok=True)
    except OSError as error:
        raise ResultsError(f'Sweep "{plan.directory}": the folder cannot be made ({error.strerror})') from None
    lock = store.acquire_lock(root)
    token = root / TOKEN
    try:
        mark = uuid.uuid4().hex
        token.write_text(mark, encoding="utf-8")
        try:
            yield token, mark
        finally:
            token.unlink(missing_ok=True)
            _find_others(plan)
            table_of(plan).write()
    finally:
        store.release_lock(lock)


def _counted(p: TaskProgress, failed: int) -> TaskProgress:
    return TaskProgress(
        p.total, p.done - failed, p.failed + failed, p.running, p.waiting, p.workers, p.seconds, p.index, p.result
    )


def arguments_of(plan: Plan, k: int, token: Path, mark: str) -> tuple:
    """Return the arguments of a worker for a variant; paths are absolute, because it may run elsewhere."""
    variant = plan.variants[k]
    folder = (plan.directory / VARIANTS / variant.name).resolve()
    tables = tables_in(folder, plan, variant.values)
    told = ", ".join(f"{p.path} = {v!r}" for p, v in zip(plan.parameters, variant.values))
    head = f"# A variant of {plan.file.name}: {' '.join(told.split())}\n\n"
    record = {
        "values": {p.path: v for p, v in zip(plan.parameters, variant.values)},
        "digest": plan.digests[k],
        "version": version(),
    }
    return str(folder), head + model_text(tables), record, str(token.resolve()), mark


def tables_in(folder: Path, plan: Plan, values: Sequence[Any]) -> dict[str, Any]:
    """Return the tables of a model file in ``folder`` with other values: its paths lead to the same files."""
    prefix = os.path.relpath(plan.file.parent.resolve(), folder.resolve()).replace(os.sep, "/")
    tables: dict[str, Any] = moved(changed(plan.data, plan.parameters, values), prefix)
    return tables


def record_of(plan: Plan, k: int, result: Any) -> dict[str, Any]:
    """Return the record of a variant that has ended; that of one whose workers died is written here."""
    if not isinstance(result, TaskFailure):
        return result
    _, _, start, _, _ = arguments_of(plan, k, Path(), "")
    record = {**start, "status": "failed", "reason": result.reason, "seconds": None, "quantities": []}
    folder = plan.directory / VARIANTS / plan.variants[k].name
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(ResultsError):  # a folder of others stays as it is
        claim(folder, folder / MODEL, "").take([folder / RECORD], keep=True)
        store.write_json(folder / RECORD, record)
    return record


def _find_others(plan: Plan) -> None:
    """Find finished variants after an interrupted run, from earlier runs or from detached workers."""
    for k in plan.waiting:
        record = read_record(plan.directory / VARIANTS / plan.variants[k].name)
        if record is not None and record["digest"] == plan.digests[k] and release(record["version"]) == release():
            plan.records[k] = record


def table_of(plan: Plan) -> SweepTable:
    """Return the table of the variants of a plan."""
    units: dict[str, str] = {}
    rows = []
    for variant, record in zip(plan.variants, plan.records):
        folder = f"{VARIANTS}/{variant.name}"
        if record is None:
            rows.append(SweepRow(variant.values, folder, "missing"))
            continue
        for name, _, unit in record["quantities"]:
            units.setdefault(name, unit)
        found = {name: value for name, value, _ in record["quantities"]}
        rows.append(SweepRow(variant.values, folder, record["status"], record["reason"], record["seconds"], found))
    parameters = [SweepParameter(p.path, p.label, p.values) for p in plan.parameters]
    told = plan.data.get("units") or {}  # [units], or [[units]] of one
    shown = DisplayUnits.read(told[0] if isinstance(told, list) else told, Owner("Units")).units()
    return SweepTable(plan.directory, plan.title, str(plan.file), parameters, rows, units, plan.zipped, shown)


# --- in a worker -----------------------------------------------------------------------------------------------------
def run_variant(folder: str, text: str, record: dict[str, Any], token: str, mark: str) -> dict[str, Any]:
    """Run one variant into its folder and return its record, with the status "done" or "failed" and the reason."""
    from fem_mbs.analysis.run import run

    target = Path(folder)
    here = version()
    if here != record["version"]:
        raise AnalysisError(
            f"the worker has fem-mbs {here}, the sweep {record['version']}; install the same everywhere"
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
        file = target / MODEL
        claim(target, file, "").take([file, target / RECORD], keep=True)
        (target / RECORD).unlink(missing_ok=True)
        clear(target, file)  # a variant that fails early must not stand beside results of another model
        store.write_atomic(file, text)
    except OSError as error:
        raise AnalysisError(
            f"the worker cannot write into {target} ({error.strerror}); all workers need the same file system"
        ) from None
    began = perf_counter()
    quantities: list[Any] = []
    reason = ""
    try:
        model = load_model(file)
        skipped = [f'mesh "{name}": {text}' for name, (mesh, _) in model.meshes.items() for text in mesh.skipped]
        results = run(model, target, progress=_Watch(Path(token), mark), skipped=skipped, source=file)
        with store.kept_open():
            quantities = collect(results)
        reason = "; ".join(results.failures)
    except InputError as error:
        reason = locate_error(file, error).in_file
    except FemMbsError as error:
        reason = str(error)
    except MemoryError:
        reason = "out of memory"
    except Exception as error:
        reason = f"unexpected error: {type(error).__name__}: {error}"
    record |= {
        "status": "failed" if reason else "done",
        "reason": " ".join(reason.split()),
        "seconds": round(perf_counter() - began, 3),
        "quantities": quantities,
    }
    store.write_json(target / RECORD, record)
    return record


class _Watch:
    """End a variant at a report when its sweep has ended, for example after Ctrl-C on a cluster whose workers
    remain."""

    def __init__(self, token: Path, mark: str) -> None:
        self.token, self.mark, self.looked = token, mark, monotonic()

    def __call__(self, _: Any) -> None:
        if monotonic() - self.looked < _LOOK:
            return
        self.looked = monotonic()
        try:
            goes_on = self.token.read_text(encoding="utf-8") == self.mark
        except OSError:
            goes_on = False
        if not goes_on:
            raise AnalysisError("the sweep was interrupted")
