"""The JSON schema of summary.json, docs/summary.schema.json, written from the classes of reports.

python -m fem_mbs.results.summary_schema > docs/summary.schema.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

from fem_mbs.records import Schema
from fem_mbs.results.report import StepReport, Summary, report_classes

__all__ = ["summary_schema", "text"]


def summary_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of summary.json, in which the step kinds are alternatives."""
    schema = Schema()
    found = schema.object(Summary)
    del schema.definitions[StepReport.__name__]  # a step is of one of its kinds
    for report in report_classes():
        schema.definitions[report.__name__] = report.schema(schema)
    kinds = [{"$ref": f"{Schema.PLACE}{report.__name__}"} for report in report_classes()]
    found["properties"]["steps"]["items"] = {"oneOf": kinds}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "summary.json of fem-mbs run",
        **found,
        "description": "Written beside results.h5 when a run ends. Keys stay; new ones may come. SI units, or the "
        "model's own consistent ones.",
        "$defs": dict(sorted(schema.definitions.items())),
    }


def text() -> str:
    """Return the contents of docs/summary.schema.json."""
    return json.dumps(summary_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
