"""The report of a validation: one self-contained HTML page with problems, sources, tables and figures."""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fem_mbs import FemMbsError, __version__, draw_curves, draw_model
from fem_mbs.validation.capabilities import CAPABILITIES
from fem_mbs.validation.case import Figure, Row
from fem_mbs.validation.kinds import KINDS, totals
from fem_mbs.validation.pictures import Picture, letters, picture

if TYPE_CHECKING:
    from fem_mbs.validation.registry import ValidationFile
    from fem_mbs.validation.runner import Outcome

__all__ = ["NO_PICTURES", "Pictures", "draw_pictures", "write_report"]

_STYLE = """
:root { --text: #1c2430; --soft: #5b6675; --line: #dfe4ea; --page: #f4f6f8; --card: #ffffff; --accent: #0072b2;
  --good: #0a7a50; --good-back: #e2f4ec; --bad: #b3261e; --bad-back: #fbe6e4; }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  color: var(--text); background: var(--page); }
header { background: #10263b; color: #fff; padding: 38px max(24px, calc((100vw - 1120px) / 2)) 30px; }
header h1 { margin: 0 0 6px; font-size: 28px; font-weight: 650; letter-spacing: -.01em; }
header p { margin: 0; color: #b9c8d8; max-width: 72ch; }
.totals { display: flex; flex-wrap: wrap; gap: 34px; margin-top: 22px; }
.totals div { font-size: 13px; color: #b9c8d8; }
.totals b { display: block; font-size: 26px; font-weight: 650; color: #fff; font-variant-numeric: tabular-nums; }
.totals .bad b { color: #ff9d94; }
main { max-width: 1120px; margin: 0 auto; padding: 26px 24px 80px; }
section, nav { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 24px 28px;
  margin-bottom: 22px; }
h2 { margin: 0 0 4px; font-size: 20px; font-weight: 650; }
h3 { margin: 24px 0 8px; font-size: 14px; font-weight: 650; color: var(--soft); }
.meta { color: var(--soft); font-size: 13px; margin-bottom: 14px; }
code { font: 12.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: #f7f9fb;
  padding: 14px 16px; border: 1px solid var(--line); border-radius: 8px; overflow-x: auto;
  white-space: pre; margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12.5px; }
th, td { padding: 6px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.what { min-width: 200px; } td.why { color: var(--soft); font-size: 12.5px; min-width: 120px; }
td.id { white-space: nowrap; font-weight: 600; }
tr.failed td { background: var(--bad-back); }
.chip { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 12px; font-weight: 600;
  white-space: nowrap; }
.yes { color: var(--good); background: var(--good-back); } .no { color: var(--bad); background: #f7cfcb; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 18px; margin-top: 18px; }
figure { margin: 0; } figure svg { width: 100%; height: auto; display: block; }
figure svg *, svg.letters * { stroke-linejoin: round; stroke-linecap: butt; }
svg.letters { position: absolute; width: 0; height: 0; }
figcaption { color: var(--soft); font-size: 12.5px; padding: 2px 8px 0; }
p { margin: 0 0 10px; max-width: 84ch; } ul { margin: 8px 0 0; padding-left: 20px; } li { margin-bottom: 6px; }
nav h2 { margin-bottom: 10px; }
tr.group td { font-weight: 650; padding-top: 16px; border-bottom-color: var(--text); }
figure.drawing { float: right; width: min(46%, 470px); margin: 0 0 12px 24px; }
section h3, section pre, section .scroll, section .figures { clear: right; }
@media (max-width: 900px) { figure.drawing { float: none; width: 100%; margin: 0 0 12px; } }
@media (max-width: 560px) { .figures { grid-template-columns: 1fr; } section, nav { padding: 18px 16px; } }
@page { size: A4; margin: 14mm 12mm; }
@media print { html { font-size: 12px; } body { background: #fff; font-size: 11px; }
  header { color: #000; background: #fff; padding: 0 0 10px; } header p, .totals div, .totals b { color: #000; }
  main { padding: 0; max-width: none; } section, nav { border: 0; padding: 0; margin-bottom: 18px; }
  section { break-before: page; } .scroll, pre { overflow: visible; } pre { white-space: pre-wrap; font-size: 9px; }
  table { font-size: 9.5px; } th, td { padding: 3px 5px; } th, td.why { font-size: 8.5px; }
  td.why, td.what { min-width: 0; }
  tr, figure, h3 { break-inside: avoid; } h2, h3 { break-after: avoid; } a { color: inherit; }
  figure.drawing { float: right; width: 80mm; } .figures { grid-template-columns: 1fr 1fr; } }
"""


@dataclass(frozen=True)
class Pictures:
    """The drawing of the model of a file, None of one that cannot be built, and its figures with their captions."""

    model: Picture | None
    figures: Sequence[tuple[Picture, str]]


NO_PICTURES = Pictures(None, ())


def draw_pictures(file: ValidationFile, figures: Sequence[Figure]) -> Pictures:
    """Draw the model of a file at its start, and the figures of its cases."""
    return Pictures(
        _drawing(file), [(_figure(figure, f"{file.name}-{k}"), figure.caption) for k, figure in enumerate(figures, 1)]
    )


def write_report(outcomes: Sequence[Outcome]) -> str:
    """Return the page as a text; each outcome has its pictures."""
    rows = _rows(outcomes)
    failed = sum(not row.passed for row in rows)
    independent = sum(row.kind.independent for row in rows)
    by_capability = _by_capability(outcomes)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>fem-mbs {_e(__version__)}: validation</title><style>{_STYLE}</style></head><body>",
        letters(_pictures(outcomes)),
        "<header><h1>Validation</h1>",
        f"<p>fem-mbs {_e(__version__)} against published problems. A row passes if the measured value is within the "
        "tolerance of the reference; the last column says why the tolerance is what it is.</p>",
        '<div class="totals">',
        f"<div><b>{independent}</b>rows against independent references</div>",
        f"<div><b>{len(rows) - independent}</b>other rows</div>",
        f'<div class="{"bad" if failed else ""}"><b>{failed}</b>rows fail</div>',
        f"<div><b>{sum(len(o.file.cases) for o in outcomes)}</b>benchmarks</div>",
        f"<div><b>{sum(outcome.seconds for outcome in outcomes):.0f} s</b>computed</div></div></header><main>",
        _kinds(rows),
        _capabilities(by_capability),
        _deviations(outcomes),
        _contents(by_capability),
        *(_section(outcome) for members in by_capability.values() for outcome in members),
        "</main></body></html>",
    ]
    return "\n".join(parts)


def _e(text: str) -> str:
    return html.escape(str(text))


def _rows(outcomes: Sequence[Outcome]) -> list[Row]:
    return [row for outcome in outcomes for row in outcome.findings.rows]


def _pictures(outcomes: Sequence[Outcome]) -> Iterator[Picture]:
    for outcome in outcomes:
        if outcome.pictures.model is not None:
            yield outcome.pictures.model
        yield from (item for item, _ in outcome.pictures.figures)


def _by_capability(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Return the outcomes of each capability that has any, by its heading."""
    groups = {title: [o for o in outcomes if o.file.capability == key] for key, title in CAPABILITIES.items()}
    return {title: members for title, members in groups.items() if members}


def _chip(rows: Sequence[Row]) -> str:
    failed = sum(not row.passed for row in rows)
    if failed:
        return f'<span class="chip no">{failed} of {len(rows)} fail</span>'
    return '<span class="chip yes">pass</span>'


def _kinds(rows: Sequence[Row]) -> str:
    """Return the table of the kinds of references with the numbers of their rows."""
    counts = totals(row.kind for row in rows)
    lines = "".join(
        f'<tr><td class="id">{_e(kind.word)}</td><td class="n">{counts[kind.word]}</td><td>{_e(kind.meaning)}</td>'
        f"<td>{'independent of the package' if kind.independent else ''}</td></tr>"
        for kind in KINDS
    )
    head = '<tr><th>Reference</th><th class="n">Rows</th><th>It is</th><th></th></tr>'
    return f'<nav><h2>Kinds of references</h2><div class="scroll"><table>{head}{lines}</table></div></nav>'


def _capabilities(groups: Mapping[str, Sequence[Outcome]]) -> str:
    """Return the table of capabilities with the numbers of their rows by kind."""
    heads = "".join(f'<th class="n">{_e(kind.word.capitalize())}</th>' for kind in KINDS)
    lines = []
    for title, members in groups.items():
        rows = _rows(members)
        counts = totals(row.kind for row in rows)
        cells = "".join(f'<td class="n">{counts[kind.word] or ""}</td>' for kind in KINDS)
        lines.append(
            f'<tr><td><a href="#{_anchor(title)}">{_e(title)}</a></td>{cells}<td class="n">{len(rows)}</td>'
            f"<td>{_chip(rows)}</td></tr>"
        )
    head = f'<tr><th>Capability</th>{heads}<th class="n">Rows</th><th></th></tr>'
    return f'<nav><h2>Capabilities</h2><div class="scroll"><table>{head}{"".join(lines)}</table></div></nav>'


def _deviations(outcomes: Sequence[Outcome]) -> str:
    """Return the list of errors of the literature, and of results that differ from it."""
    lines = "".join(
        f'<li>{_e(text)} <a href="#{outcome.file.name}">{_e(", ".join(outcome.file.cases))}</a></li>'
        for outcome in outcomes
        for text in outcome.file.deviations
    )
    return f"<nav><h2>Deviations from the literature, and its misprints</h2><ul>{lines}</ul></nav>" if lines else ""


def _anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower())


def _contents(groups: Mapping[str, Sequence[Outcome]]) -> str:
    """Return the list of the problems by capability."""
    lines = []
    for title, members in groups.items():
        lines.append(f'<tr class="group" id="{_anchor(title)}"><td colspan="5">{_e(title)}</td></tr>')
        lines += [
            f'<tr><td><a href="#{outcome.file.name}">{_e(outcome.file.title)}</a></td>'
            f"<td>{_e(', '.join(outcome.file.cases))}</td>"
            f'<td class="n">{len(outcome.findings.rows)}</td><td class="n">{outcome.seconds:.1f}</td>'
            f"<td>{_chip(outcome.findings.rows)}</td></tr>"
            for outcome in members
        ]
    head = '<tr><th>Problem</th><th>Benchmarks</th><th class="n">Rows</th><th class="n">Time [s]</th><th></th></tr>'
    return f'<nav><h2>Problems</h2><div class="scroll"><table>{head}{"".join(lines)}</table></div></nav>'


def _section(outcome: Outcome) -> str:
    file, findings, pictures = outcome.file, outcome.findings, outcome.pictures
    drawing = f'<figure class="drawing">{pictures.model.markup}</figure>' if pictures.model is not None else ""
    shows = "".join(f'<tr><td class="id">{_e(case)}</td><td>{_e(text)}</td></tr>' for case, text in file.cases.items())
    figures = "".join(
        f"<figure>{item.markup}{f'<figcaption>{_e(caption)}</figcaption>' if caption else ''}</figure>"
        for item, caption in pictures.figures
    )
    trouble = f"<h3>What stopped it</h3><pre>{_e(outcome.trouble)}</pre>" if outcome.trouble else ""
    problem, _, source = file.text.partition("Source: ")
    return (
        f'<section id="{file.name}"><h2>{_e(file.title)}</h2>'
        f'<div class="meta"><code>validation/{file.name}.py</code>, {outcome.seconds:.1f} s</div>'
        f"{drawing}{_prose(problem)}"
        f"<h3>Source and references</h3>{_prose(source)}"
        f"<h3>What must be shown</h3><table>{shows}</table>"
        f"<h3>Measured</h3>{_table(findings.rows)}{trouble}"
        + (f'<div class="figures">{figures}</div>' if figures else "")
        + "</section>"
    )


def _prose(text: str) -> str:
    """Return paragraphs; what is indented, formulas and sketches with their numbers, keeps its lines."""
    blocks = re.split(r"\n[ ]*\n", text.strip("\n"))
    return "".join(
        f"<pre>{_e(textwrap.dedent(block))}</pre>"
        if all(line.startswith("  ") for line in block.splitlines())
        else f"<p>{_e(block)}</p>"
        for block in blocks
        if block.strip()
    )


def _drawing(file: ValidationFile) -> Picture | None:
    """Return the drawing of the model at its start; of a model that cannot be built there is none."""
    try:
        svg = draw_model(file.build())
    except FemMbsError:
        return None
    return picture(svg, f"Model: {file.title}", f"{file.name}-0")


def _table(rows: Sequence[Row]) -> str:
    head = (
        '<tr><th>Case</th><th>Quantity</th><th class="n">Measured</th><th class="n">Reference</th>'
        '<th class="n">Error</th><th class="n">Tolerance</th><th></th><th>Reference is</th>'
        "<th>Reason for the tolerance</th></tr>"
    )
    lines = [
        f'<tr class="{"" if row.passed else "failed"}"><td class="id">{_e(row.case)}</td>'
        f'<td class="what">{_e(row.quantity)}</td>'
        f'<td class="n">{_number(row.measured)}</td><td class="n">{_number(row.reference)}</td>'
        f'<td class="n">{_number(row.measured - row.reference, 2)}</td>'
        f'<td class="n">{_number(row.tolerance, 3)}</td>'
        f'<td><span class="chip {"yes" if row.passed else "no"}">{"pass" if row.passed else "fail"}</span></td>'
        f'<td class="why">{_e(str(row.kind))}</td><td class="why">{_e(row.reason)}</td></tr>'
        for row in rows
    ]
    return f'<div class="scroll"><table>{head}{"".join(lines)}</table></div>'


def _number(value: float, digits: int = 7) -> str:
    if not math.isfinite(value):
        return "none"
    text = f"{value:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa.replace("-", "\u2212")
    if not exponent:
        return mantissa
    if abs(value) < 1e-3 and digits > 3:
        mantissa = f"{value:.2e}".partition("e")[0].replace("-", "\u2212")
    return f"{mantissa}\u00b710<sup>{str(int(exponent)).replace('-', chr(0x2212))}</sup>"


def _figure(figure: Figure, key: str) -> Picture:
    curves = [(c.x, c.y, c.label, c.style) for c in figure.curves]
    svg = draw_curves(figure.title, curves, figure.x, figure.y, scale=figure.scale, equal=figure.equal)
    return picture(svg, figure.title, key)
