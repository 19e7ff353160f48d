"""Find, check and include the files of a deck, and split them into keywords with their data."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.text import Card, Piece, decoded, label, split_fields
from fem_mbs.meshes.texts import short

__all__ = ["read_cards"]

MAX_LINE = 10_000  # characters; CalculiX reads 1320, Abaqus 256
MAX_DEPTH = 9  # of includes, as in CalculiX
MAX_FILES = 10_000  # so that a few files that include each other many times do not fill the memory

# (comments that a mail or a comparison of files has marked begin with ">")
_COMMENT = re.compile(rb"(?m)^[ \t>]*\*\*[^\n]*")
_KEYWORD = re.compile(rb"(?m)^[ \t]*\*(?!\*)[^\n]*")
_ODD = re.compile(rb"[\x00-\x08\x0b\x0e-\x19\x1b-\x1f\x7f]")


def read_cards(path: str | Path, known: dict[str, str]) -> list[Card]:
    """Return all keywords of the deck and of what it includes, in reading order.

    ``known``: names of keywords without blanks -> as they are called.  Raises MeshError for files that cannot be read,
    are not text, or include themselves or something outside the folder of the deck.
    """
    path = Path(path)
    files = _Files(path.parent.resolve(), known)
    files.read(path, path.name, [])
    if not files.cards:
        raise MeshError(f"{path.name}: no keyword found; this is not an Abaqus or CalculiX deck")
    return files.cards


def _load(path: Path, name: str) -> bytes:
    try:
        if not path.is_file():
            raise MeshError(f"{name}: there is no such file ({path})")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise MeshError(f"{name}: cannot be read ({error})") from error
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    odd = _ODD.search(data)
    if odd:
        line = data.count(b"\n", 0, odd.start()) + 1
        raise MeshError(f"{name}, line {line}: byte {odd[0][0]:#04x} is not text; give a deck in plain text")
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
    lengths = np.diff(np.concatenate([[-1], ends, [len(data)]])) - 1
    if lengths.max(initial=0) > MAX_LINE:
        k = int(lengths.argmax())
        raise MeshError(f"{name}, line {k + 1}: {lengths[k]} characters; a line may have {MAX_LINE}")
    return data


_REPEATED = re.compile(rb"(?i)\*\s*(NODE|ELEMENT)\s*(,(?!.*INPUT).*[^,])?")


def _merged(data: bytes) -> tuple[bytes, list[re.Match]]:
    """Return the keyword lines; those of nodes and elements that repeat the one before are blanked out, to make one
    table.

    Some programs write the keyword anew for every element.
    """
    kept: list[re.Match] = []
    out, last = None, b""
    for match in _KEYWORD.finditer(data):
        text = match[0].strip()
        if text == last and _REPEATED.fullmatch(text):
            out = bytearray(data) if out is None else out
            out[match.start() : match.end()] = b" " * len(match[0])
        else:
            kept.append(match)
        last = text
    return (data if out is None else bytes(out)), kept


@dataclass(eq=False)
class _Files:
    """Reads the files of a deck one into the other; the folder is that of the deck, known as for `read_cards`."""

    folder: Path
    known: dict[str, str]
    cards: list[Card] = field(default_factory=list)
    count: int = 0

    def read(self, path: Path, name: str, above: list[Path]) -> None:
        """Append the cards of one file; data lines before its first keyword go to the last card."""
        cards = self.cards
        data = _load(path, name)
        if b"**" in data:
            data = _COMMENT.sub(b"", data)
        data, matches = _merged(data)
        line, at = 1, 0  # the line on which `at` lies
        for match in [*matches, None]:
            start = len(data) if match is None else match.start()
            body = data[at:start]
            if cards and body.strip():
                cards[-1].pieces.append(Piece(name, line, body))
            elif body.strip():
                first = line + len(body[: len(body) - len(body.lstrip())].split(b"\n")) - 1
                raise MeshError(
                    f"{name}, line {first}: data before the first keyword ({short(decoded(body.strip()[:60]))}); "
                    "a deck begins with a line like *HEADING or *NODE"
                )
            if match is None:
                return
            line += body.count(b"\n")
            head = decoded(match[0]).strip()
            at, here = match.end() + 1, line
            line += 1
            while head.endswith(","):  # goes on in the next line
                stop = data.find(b"\n", at)
                stop = len(data) if stop < 0 else stop
                more = decoded(data[at:stop]).strip()
                if at > len(data) or not _is_continuation(more):
                    break
                head += more
                at, line = stop + 1, line + 1
            card = _card(head, name, here, self.known)
            if card.keyword == "INCLUDE":
                self.include(card, [*above, path.resolve()])
            else:
                cards.append(card)
                if "INPUT" in card.params and card.keyword != "SUBMODEL":  # the data lines are in another file
                    card.taken.add("INPUT")
                    self.include(card, [*above, path.resolve()])

    def include(self, card: Card, above: list[Path]) -> None:
        """Append what the file of the parameter INPUT holds."""
        value = card.params.get("INPUT")
        if not value or not value.strip('"'):
            card.fail("parameter INPUT is missing; write INPUT=file")
        value = value.strip('"')
        if len(value) > 1000:
            card.fail(f"the file name has {len(value)} characters")
        try:
            path = (self.folder / value).resolve()
            inside = path.is_relative_to(self.folder)
        except (OSError, ValueError, RuntimeError) as error:
            card.fail(f"{short(value)} is not a path ({error})")
        if not inside:
            card.fail(
                f"{short(value)} is outside the folder of the deck ({self.folder}); move the file beside the deck"
            )
        if path in above:
            card.fail(f"{short(value)} includes itself; remove the line")
        if len(above) > MAX_DEPTH:
            card.fail(f"includes go deeper than {MAX_DEPTH} files")
        if not path.is_file():
            card.fail(f"there is no file {short(value)} in {self.folder}")
        self.count += 1
        if self.count > MAX_FILES:
            card.fail(f"more than {MAX_FILES} files are included")
        self.read(path, value, above)


_FLAGS = {"GENERATE", "NLGEOM", "PERTURBATION", "DIRECT", "UNSORTED", "INTERNAL", "NONLINEAR", "FIXED", "EXPLICIT"}


def _is_continuation(text: str) -> bool:
    if not text or text.startswith("*"):
        return False
    return "=" in text or all(label(f) in _FLAGS for f in split_fields(text) if f)


def _card(head: str, file: str, line: int, known: dict[str, str]) -> Card:
    first, *rest = split_fields(head[1:])
    word = re.sub(r"\s+", "", first).upper()
    keyword = known.get(word)
    if keyword is None and len(word) >= 4:
        longer = [name for key, name in known.items() if key.startswith(word)]
        keyword = longer[0] if len(longer) == 1 else known.get(word.removesuffix("S"))
    params: dict[str, str | None] = {}
    for part in rest:
        if part:
            name, sign, value = part.partition("=")
            params[re.sub(r"\s+", "", name).upper()] = value.strip() if sign else None
    return Card(keyword or " ".join(first.upper().split())[:80], params, file, line)
