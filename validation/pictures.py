"""Pictures of the report: SVG that stands in its page, as small as it looks the same.

A drawing of matplotlib tells each coordinate to a millionth of a point, names each of its parts, and holds the outlines
of the letters that it writes.  Here coordinates are told to a hundredth of a point, lines by the distances between
their points; names that nothing refers to are left out, and a page holds each letter once.
"""

from __future__ import annotations

import html
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree

__all__ = ["Picture", "letters", "picture"]

_LINK = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_PLACE = re.compile(r"(?<=translate\()[^)]*")
_ALONG = re.compile(r"translate\((\S+) 0\)")
_USED = re.compile(r'(?:url\(#|"#)([^)"]+)')
_UNIT = 100  # parts of a point that are told


@dataclass(frozen=True)
class Picture:
    """A picture as an element of a page, and the outlines of the letters (id: path) that it refers to."""

    markup: str
    letters: Mapping[str, str]


def picture(svg: bytes, text: str, key: str) -> Picture:
    """Return a drawing as an element of a page.

    Args:
        svg: as matplotlib writes it.
        text: description for readers who cannot see the drawing (``aria-label``).
        key: begins the ids within the picture; no other picture of the page has it.
    """
    root = ElementTree.fromstring(svg)
    glyphs = {
        path.get("id", ""): path
        for path in root.iterfind(".//{*}defs/{*}path")
        if path.get("style") is None and path.get("transform")
    }
    used = sorted(set(_USED.findall(svg.decode())) - glyphs.keys())
    names = {name: f"{key}-{k}" for k, name in enumerate(used)} | {name: _letter(name) for name in glyphs}
    outlines = {
        names[name]: f"<path id={_quoted(names[name])} d={_quoted(_packed(path.get('d', '')))}"
        f" transform={_quoted(path.get('transform', ''))}/>"
        for name, path in glyphs.items()
    }
    parts: list[str] = []
    for child in root:
        _write(child, names, glyphs, parts)
    box = root.get("viewBox", "")
    markup = f'<svg viewBox="{box}" role="img" aria-label={_quoted(text)}>{"".join(parts)}</svg>'
    return Picture(markup, outlines)


def letters(pictures: Iterable[Picture]) -> str:
    """Return the element of a page that holds the letters of its pictures, each once."""
    found: dict[str, str] = {}
    for item in pictures:
        for name, outline in item.letters.items():
            if found.setdefault(name, outline) != outline:
                raise ValueError(f'two outlines of a letter have the id "{name}"')
    return f'<svg class="letters" aria-hidden="true"><defs>{"".join(found.values())}</defs></svg>' if found else ""


def _letter(name: str) -> str:
    """Return the id of a glyph, DVSB-12 of "DejaVuSans-Bold-12": the capitals of its font, and its number."""
    font, _, number = name.rpartition("-")
    return f"{''.join(re.findall('[A-Z]', font))}-{number}"


def _write(element: ElementTree.Element, names: Mapping[str, str], glyphs: Container[str], out: list[str]) -> None:
    """Append the text of an element and of what it holds."""
    tag = element.tag.rpartition("}")[2]
    if tag in ("metadata", "style") or element.get("id") in glyphs:
        return
    inside: list[str] = []
    attributes = _attributes(element, names)
    if tag == "g":  # marks of one style tell it once
        styles = {child.get("style") for child in element}
        if len(styles) == 1 and "style" not in attributes and all(child.tag.endswith("}use") for child in element):
            common = styles.pop()
            if common:
                attributes["style"] = _narrow(common)
                for child in element:
                    del child.attrib["style"]
    for child in element:
        _write(child, names, glyphs, inside)
    if (tag == "defs" and not inside) or (tag == "path" and not re.search("[a-zLQC]", attributes.get("d", ""))):
        return  # a path of one place, or of none, draws nothing
    if tag == "g" and not attributes:
        out += inside
        return
    head = "".join(f" {name}={_quoted(value)}" for name, value in attributes.items())
    out.append(f"<{tag}{head}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{head}/>")


def _attributes(element: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, value in element.attrib.items():
        if name == "id":
            if value in names:
                found["id"] = names[value]
        elif name == _LINK:
            found["href"] = f"#{names.get(value[1:], value[1:])}" if value.startswith("#") else value
        elif name == "d":
            found["d"] = _packed(value)
        elif name == "style":
            found["style"] = _narrow(value)
        elif name == "clip-path":
            found["clip-path"] = re.sub(r"#([^)]+)", lambda match: f"#{names[match[1]]}", value)
        elif name in ("x", "y", "width", "height"):
            found[name] = _NUMBER.sub(_rounded, value)
        elif name == "transform" and element.tag.endswith("}use") and (along := _ALONG.fullmatch(value)):
            found["x"] = _NUMBER.sub(_rounded, along[1])
        elif name == "transform":
            found["transform"] = _PLACE.sub(lambda match: _NUMBER.sub(_rounded, match[0]), value)
        else:
            found[name] = value
    return found


def _packed(path: str) -> str:
    """Return the data of a path in fewer characters; lines go from point to point."""
    words = path.split()
    if set(re.findall("[A-Za-z]", path)) <= set("MLz"):
        return _lines(words)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(_NUMBER.sub(_rounded, word) for word in words)).replace(" -", "-")


def _lines(words: list[str]) -> str:
    """Return straight lines, each point by its distance from the last one, which is exact in the unit told."""
    out: list[str] = []
    command, x, y, begun = "", 0, 0, (0, 0)
    k = 0
    while k < len(words):
        if words[k] in "MLz":
            command = words[k]
            k += 1
            if command == "z":
                out.append("z")
                x, y = begun
            continue
        at = round(float(words[k]) * _UNIT), round(float(words[k + 1]) * _UNIT)
        k += 2
        if command == "M":
            out.append(f"M{_text(at[0])} {_text(at[1])}l")
            begun = at
        elif at != (x, y) or out[-1].endswith("l"):
            out.append(f"{_text(at[0] - x)} {_text(at[1] - y)}")
        x, y = at
    text = " ".join(out).replace(" -", "-").replace("l ", "l").replace(" M", "M").replace(" z", "z")
    return text.replace("lz", "z").replace("lM", "M").removesuffix("l")


@cache
def _text(value: int) -> str:
    """Return a number of units as one of points."""
    text = f"{value / _UNIT:.2f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _rounded(match: re.Match[str]) -> str:
    return _text(round(float(match[0]) * _UNIT))


def _narrow(style: str) -> str:
    return style.replace(": ", ":").replace("; ", ";")


def _quoted(text: str) -> str:
    return f'"{html.escape(text)}"'
