"""Write the report of a run: one HTML file without scripts and without a network."""

from __future__ import annotations

import datetime
import hashlib
import platform
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from fem_mbs.errors import DiskFullError, FemMbsError
from fem_mbs.files import write_page
from fem_mbs.plot.figures import FigureJob, figure_jobs
from fem_mbs.plot.marks import marks_of
from fem_mbs.plot.model import plot_model
from fem_mbs.plot.scene import start_of
from fem_mbs.plot.style import DPI
from fem_mbs.progress import say, waiting
from fem_mbs.report import tables
from fem_mbs.report.tables import TableText
from fem_mbs.results.folder import Folder
from fem_mbs.results.reader import Results, Step
from fem_mbs.results.report import EventReport
from fem_mbs.units import Units

__all__ = ["report_text", "write_report"]

_MARK = b'name="generator" content="fem-mbs report"'  # in the first lines of a report
_PIXELS_PER_INCH = 96.0  # of pages
_MOST_SVG = 300_000  # bytes; larger figures become pixels
_MOST_MODEL = 200_000  # bytes of a model file that is quoted
_PICTURES = ("model", "shapes", "wheel", "deformed")  # of the model, which are pixels
_CAPTIONS = {
    "ledger": "Energies and works over time, and the closing error of the ledger.",
    "momenta": "Linear and angular momentum over time.",
    "campbell": "Campbell diagram.",
    "roots": "Eigenvalues in the complex plane.",
    "unbalance": "Response to unbalance.",
    "stability": "Stability map.",
    "eigenvalues": "Eigenvalues along the step.",
    "path": "Load factor over displacements.",
    "diameters": "Frequencies by nodal diameters.",
    "wheel": "Shapes of the whole wheel.",
    "shapes": "Shapes.",
    "sensors": "Sensors.",
    "sensitivities": "Relative sensitivities of sensors over the time.",
    "response": "Response to harmonic excitation.",
    "deformed": "Deformed shape; the reference is drawn lightly.",
}


@waiting()
def write_report(results: Results, path: str | Path) -> Path:
    """Write the report of results as one HTML file, and return its path.

    Raises:
        ResultsError: the file cannot be written, or another file has its name.
    """
    target = Path(path)
    write_page(target, report_text(results), _MARK, "Report")
    return target


def report_text(results: Results) -> str:
    """Return the report of results as the text of an HTML file."""
    room = files("fem_mbs.report")
    parts = {
        "@TITLE@": escape(f"{results.header['title'] or 'Model'}: report"),
        "@STYLE@": room.joinpath("report.css").read_text(encoding="utf-8"),
        "@BODY@": "\n".join(_body(results)),  # last: it is the user's text
    }
    page = room.joinpath("page.html").read_text(encoding="utf-8")
    for mark, text in parts.items():
        page = page.replace(mark, text, 1)
    return page


def _body(results: Results) -> Iterator[str]:
    """Yield the sections of the report."""
    jobs = list(figure_jobs(results))
    checks, sensors, energies = (f(results) for f in (tables.check_table, tables.sensor_table, tables.energy_table))
    whole = [job for job in jobs if job.step is None]
    sections = [
        ("model", "Model", True),
        ("steps", "Steps", bool(results.steps)),
        ("results", "Results over all steps", bool(whole or sensors.rows or energies.rows)),
        ("checks", "Checks", bool(checks.rows)),
        ("notes", "Warnings and notes", True),
        ("reproduce", "How to reproduce", True),
    ]
    heads = {key: f'<h2 id="{key}">{text}</h2>' for key, text, _ in sections}
    yield from _head(results)
    links = "".join(f'<a href="#{key}">{text}</a>' for key, text, there in sections if there)
    yield f"<nav>{links}</nav>"
    yield from _reservations(results)
    yield heads["model"]
    yield from _model(results)
    if results.steps:
        yield heads["steps"]
        yield _table(tables.step_table(results))
        for step in results.steps:
            yield from _step(step, [job for job in jobs if job.step == step.number])
    if whole or sensors.rows or energies.rows:
        yield heads["results"]
        yield _table(energies)
        yield from _figures(job for job in whole if job.name in ("ledger", "momenta"))
        yield _table(sensors, texts=(1, 2))
        yield from _figures(job for job in whole if job.name not in ("ledger", "momenta"))
    if checks.rows:
        yield heads["checks"]
        yield _table(checks, texts=(6,))
        yield "<p>Checks are in the units of the model.</p>"
    yield heads["notes"]
    yield from _notes(results)
    yield heads["reproduce"]
    yield from _reproduce(results)


def _head(results: Results) -> Iterator[str]:
    good = results.complete and not results.failures
    state = "done" if good else "with failures" if results.complete else results.status
    title = escape(results.header["title"] or "Model")
    yield f'<header><h1>{title}<span class="state{"" if good else " bad"}">{escape(state)}</span></h1>'
    facts = [f"fem-mbs {escape(str(results.header['version']))}"]
    if results.directory is not None:
        file = results.directory / "summary.json"
        file = file if file.is_file() else results.directory
        time = datetime.datetime.fromtimestamp(file.stat().st_mtime).astimezone()
        facts = [escape(results.directory.resolve().name), f"run ended {time:%Y-%m-%d %H:%M %Z}", *facts]
    yield f'<p class="facts">{" &middot; ".join(facts)}</p></header>'


def _reservations(results: Results) -> Iterator[str]:
    """Yield reservations on the results, which stand before all numbers."""
    found = marks_of(results)
    if found:
        yield _box("Read this first: these results have reservations", found, bad=True)


def _box(title: str, sentences: Iterable[str], bad: bool = False) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<div class="box{" bad" if bad else ""}"><b>{escape(title)}</b><ul>{items}</ul></div>'


def _table(table: TableText, texts: tuple[int, ...] = ()) -> str:
    """Return a table, "" without rows; the columns ``texts`` and the first one stand at the left."""
    if not table.rows:
        return ""

    def cell(k: int, text: str, tag: str) -> str:
        kinds = " ".join(["text"] * (k in texts) + ["bad"] * (text == "FAILED"))
        return f"<{tag}{f' class={chr(34)}{kinds}{chr(34)}' if kinds else ''}>{escape(text)}</{tag}>"

    head = "".join(cell(k, text, "th") for k, text in enumerate(table.heads))
    rows = ("".join(cell(k, text, "td") for k, text in enumerate(row)) for row in table.rows)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _model(results: Results) -> Iterator[str]:
    """Yield the size of the model, its units and a picture."""
    yield f'<div class="pair"><div>{_table(tables.count_table(results))}</div>'
    yield f"<div>{_table(tables.element_table(results))}</div></div>"
    start = start_of(results)
    job = FigureJob("model", None, lambda path: plot_model(start, path))
    yield from _figures([job], "The model at its start, with supports, joints, loads and names.")
    yield "<h3>Units</h3>"
    yield _table(tables.unit_table(results), texts=(1, 2))


def _step(step: Step, jobs: list[FigureJob]) -> Iterator[str]:
    """Yield the results of a step: sentences, tables, figures."""
    yield f"<h3>{step.number + 1}. {escape(step.name)} <small>({escape(step.type.replace('_', ' '))})</small></h3>"
    report = step.report
    if report is not None and report.failures:
        yield _box("The results of this step do not hold", report.failures, bad=True)
    if report is not None and report.warnings:
        yield _box("Warnings", report.warnings)
    for sentence in tables.step_sentences(step):
        yield f"<p>{escape(sentence)}</p>"
    events = getattr(report, "events", None) or []
    if events:
        yield _table(_events(events, step.units))
    for table in tables.step_tables(step):
        yield _table(table)
    yield from _figures(jobs)


def _events(events: Sequence[EventReport], units: Units) -> TableText:
    """Return the table of what has happened, with the impulses and losses of locks where some have closed."""
    time, energy = units.of("s"), units.of("J")
    head: tuple[str, ...] = ("Event", f"time [{time.unit}]", "action")
    rows: list[tuple[str, ...]] = [(event.name, f"{time(event.time):.9g}", event.action) for event in events]
    if any(event.loss is not None for event in events):
        head = (*head, "impulse [N s, N m s]", f"loss [{energy.unit}]")
        rows = [
            (*row, *("" if v is None else f"{v:.6g}" for v in (event.impulse, energy(event.loss))))
            for row, event in zip(rows, events, strict=True)
        ]  # fmt: skip
    return TableText(head, rows)


def _figures(jobs: Iterable[FigureJob], caption: str = "") -> Iterator[str]:
    """Yield figures as images within the page: lines as SVG, pictures and very dense curves as PNG."""
    with TemporaryDirectory() as folder:
        for job in jobs:
            say(f"report: drawing {job.name}")
            picture = job.name.partition("-")[0] in _PICTURES
            try:
                path = job.draw(Path(folder) / f"{job.name}.{'png' if picture else 'svg'}")
                if path.suffix == ".svg" and path.stat().st_size > _MOST_SVG:
                    path = job.draw(path.with_suffix(".png"))
            except DiskFullError:
                raise
            except FemMbsError:
                continue  # the results have nothing of it
            kind = "svg+xml" if path.suffix == ".svg" else "png"
            data = b64encode(path.read_bytes()).decode()
            text = escape(caption or _CAPTIONS.get(job.name.partition("-")[0], job.name))
            image = f'<img alt="{text}"{_width(path)} src="data:image/{kind};base64,{data}">'
            yield f"<figure>{image}<figcaption>{text}</figcaption></figure>"


def _width(path: Path) -> str:
    """Return the width of a picture for the page: its letters are then as large as those of other figures."""
    if path.suffix != ".png":
        return ""
    pixels = int.from_bytes(path.read_bytes()[16:20], "big")  # of the header, which begins the file
    return f' width="{round(pixels * _PIXELS_PER_INCH / DPI)}"'


def _notes(results: Results) -> Iterator[str]:
    summary = results.report
    warnings = list((summary.warnings if summary is not None else None) or [])
    skipped = list((summary.skipped if summary is not None else None) or [])
    per_step = [
        f'step "{step.name}": {text}' for step in results.steps for text in (step.report and step.report.warnings) or []
    ]
    if warnings or per_step:
        yield _box("Warnings", [*warnings, *per_step])
    if skipped:
        yield _box("Not used of the input files", skipped)
    if summary is not None and summary.assembly is not None:
        yield _box("Assembly", summary.assembly.warnings or ["joints were closed before the first step"])
    if not (warnings or per_step or skipped):
        yield "<p>None.</p>"


def _reproduce(results: Results) -> Iterator[str]:
    """Yield versions, commands, and the model file as it is now."""
    version = escape(str(results.header["version"]))
    system = f"{platform.system()} {platform.machine()}, Python {sys.version.split()[0]}"
    yield f"<p>Computed with fem-mbs {version}. This report was written on {escape(system)}.</p>"
    folder = None if results.directory is None else Folder.read(results.directory)
    if results.directory is None or folder is None:
        yield "<p>The results are in memory; run the script that made the model again.</p>"
        return
    where = results.directory.resolve()
    file = folder.file
    if not file:
        yield "<p>The model was built in Python; run its script again. The reports and figures come from:</p>"
        yield f"<pre>fem-mbs report {escape(where.name)}</pre>"
        return
    source = (where / file).resolve()
    departs = bool(results.header.get("departures"))
    command = f"fem-mbs run {source.name}{' --allow' if departs else ''} -o {where.name}\nfem-mbs report {where.name}"
    yield f"<pre>pip install fem-mbs=={version}\n{escape(command)}</pre>"
    if not source.is_file():
        yield f"<p>The model file {escape(source.name)} is no longer where it was.</p>"
        return
    data = source.read_bytes()
    yield f"<p>{escape(source.name)} as it is now has the SHA-256 <code>{hashlib.sha256(data).hexdigest()}</code>.</p>"
    if len(data) <= _MOST_MODEL:
        quoted = escape(data.decode("utf-8", "replace"))
        yield f"<details><summary>{escape(source.name)}</summary><pre>{quoted}</pre></details>"
