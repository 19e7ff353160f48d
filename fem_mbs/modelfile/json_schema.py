"""JSON Schema of model files: editors complete and check TOML with it (Taplo, Even Better TOML).

python -m fem_mbs.modelfile.json_schema > docs/model.schema.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

from fem_mbs.declarations import kinds as K
from fem_mbs.declarations.declaration import Declaration, Key, plain
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.modelfile.schema import TABLES, Document, Table

__all__ = ["model_schema", "schema_text"]

#: A number, or an expression of parameters.
_NUMBER: dict[str, Any] = {"type": ["number", "string"]}
_NUMBERS = {"type": "array", "items": _NUMBER}
_TEXTS = {"type": "array", "items": {"type": "string"}}

#: Kind of value -> what JSON Schema says of it; kinds that are not here may be anything.
_KINDS: dict[K.Kind, dict[str, Any]] = {
    K.NUMBER: _NUMBER,
    K.NUMBER_OR_INF: _NUMBER,
    K.WHOLE: {"type": ["integer", "string"], "minimum": 0},
    K.CELL_COUNT: {"type": ["integer", "string"], "minimum": 1},
    K.DIMENSION: {"enum": [2, 3]},
    K.TEXT: {"type": "string"},
    K.FILE: {"type": "string"},
    K.ANY_TEXT: {"type": "string"},
    K.NAME: {"type": "string"},
    K.PLACE: {"type": "string"},
    K.FLAG: {"type": "boolean"},
    K.VECTOR: _NUMBERS,
    K.VECTOR_ANY: _NUMBERS,
    K.NUMBER_OR_VECTOR: {"anyOf": [_NUMBER, _NUMBERS]},
    K.NUMBER_OR_PAIR: {"anyOf": [_NUMBER, _NUMBERS]},
    K.RATIOS: {"anyOf": [_NUMBER, _NUMBERS]},
    K.PLACES: {"anyOf": [{"type": "string"}, _TEXTS]},
    K.WORDS: {"anyOf": [{"type": "string"}, _TEXTS]},
    K.FUNCTION: {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "object"}]},
}


def model_schema() -> dict[str, Any]:
    """Return the JSON Schema of model files."""
    top = _object(Document)
    for table in TABLES:
        top["properties"][table.name] = {"description": table.text, **_table(table)}
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Model file of fem-mbs", **top}


def _table(table: Table) -> dict[str, Any]:
    entry = _object(table.declaration)
    if table.single:
        single = table.declaration.keys()[table.single].kind
        alone = _KINDS[single] if isinstance(single, K.Kind) else _object(single)
        entry = alone if "anyOf" in alone else {"anyOf": [alone, entry]}
    if table.name == "step":  # the options depend on the type
        entry["properties"]["type"]["enum"] = list(step_kinds())
        for kind in step_kinds().values():
            for name, said in kind.Options.keys().items():
                entry["properties"].setdefault(name, {"description": said.meaning})
    if table.kinds is not None:  # the keys depend on the kind
        kinds = table.kinds()
        entry["properties"]["kind"] = {
            "description": table.declaration.keys()["kind"].meaning,
            "oneOf": [{"const": name, "description": said.purpose()} for name, said in kinds.items()],
        }
        entry["allOf"] = []
        for name, declaration in kinds.items():
            own = _object(declaration)
            for key, value in own["properties"].items():
                entry["properties"].setdefault(key, {"description": value["description"]})
            entry["allOf"].append({"if": {"properties": {"kind": {"const": name}}}, "then": own})
    if table.many == "named":
        return {"type": "object", "additionalProperties": entry}
    many = {"type": "array", "items": entry}
    return {"anyOf": [entry, many]} if table.name in ("initial", "assembly") else many


def _object(declaration: type[Declaration]) -> dict[str, Any]:
    known = declaration.in_file()
    needed = [name for name, (_, said) in known.items() if said.required and not said.shows]
    found = {
        "type": "object",
        "properties": {name: _value(said) for name, (_, said) in known.items()},
        "additionalProperties": False,
    }
    return found | ({"required": needed} if needed else {})


def _value(said: Key) -> dict[str, Any]:
    kind = said.kind
    found: dict[str, Any] = {"description": said.meaning}
    if not isinstance(kind, K.Kind):
        return found | _object(kind)
    found |= _KINDS.get(kind, {})
    if said.choices:
        found["enum"] = list(said.choices)
    if not said.required and said.default is not None and not said.shows:
        found["default"] = plain(said.default)
    return found


def schema_text() -> str:
    """Return the schema as docs/model.schema.json has it."""
    return json.dumps(model_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
