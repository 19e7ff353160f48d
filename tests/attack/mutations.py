"""Change contents at random: bytes, words, lines, cuts; values of documents."""

from __future__ import annotations

import random
import re

__all__ = ["flipped", "mutated_bytes", "mutated_lines"]

WORDS = [
    b"0", b"-1", b"1", b"2", b"3", b"15", b"77", b"nan", b"inf", b"-inf", b"1e308", b"1e-308", b"99999999",
    b"2147483648", b"9" * 30, b"18446744073709551615", b"x", b"", b'"', b"$", b"1.5", b"\xff", b"1_0", b"-0", b"\0",
    b"*", b",", b"=", b"[", b"]", b"{", b"}", b"\n", b"\t", b"1e99", b"true", b"\xc3\xa9", b"-99999", b"0x10",
]  # fmt: skip


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return data with one to three random changes of bytes, words, lines or length."""
    for _ in range(rng.randint(1, 3)):
        if len(data) < 2:
            return data
        at, kind = rng.randrange(len(data)), rng.randrange(9)
        if kind == 0:
            data = data[:at] + rng.randbytes(rng.randint(1, 4)) + data[at + 1 :]
        elif kind <= 3:
            words = list(re.finditer(rb"[^\s<>=,]+", data[max(at - 2000, 0) : at + 2000]))
            if words:
                word, start = rng.choice(words), max(at - 2000, 0)
                data = data[: start + word.start()] + rng.choice(WORDS) + data[start + word.end() :]
        elif kind == 4:
            data = data[:at]
        elif kind == 5:
            data = data[:at] + data[at + rng.randint(1, 40) :]
        elif kind == 6:
            data = data[:at] + bytes(rng.randint(1, 600)) + data[at + 300 :]
        else:
            lines = data.split(b"\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            if kind == 7:
                lines.insert(i, lines[j])
            else:
                lines[i], lines[j] = lines[j], lines[i]
            data = b"\n".join(lines)
    return data


def mutated_lines(text: str, rng: random.Random) -> str:
    """Return a text with one to four lines removed, doubled, exchanged, inserted or changed in a character."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 4)):
        i, j, kind = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(6)
        if kind == 0 and len(lines) > 1:
            del lines[i]
        elif kind == 1:
            lines.insert(i, lines[j])
        elif kind == 2:
            lines[i], lines[j] = lines[j], lines[i]
        elif kind == 3:
            lines.insert(i, "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x250)))) for _ in range(8)))
        elif lines[i]:
            k = rng.randrange(len(lines[i]))
            new = chr(rng.randrange(0x180)) if kind == 4 else ""
            lines[i] = lines[i][:k] + new + lines[i][k + 1 :]
    return "\n".join(lines)


def flipped(data: bytes, rng: random.Random) -> bytes:
    """Return binary data that is cut, or has changed bits or blocks: the damage that disks and copying cause."""
    kind = rng.randrange(6)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    found = bytearray(data)
    if kind == 1:
        at = rng.randrange(len(data))
        found[at : at + 512] = bytes(len(found[at : at + 512]))
    elif kind == 2:
        at, other = rng.randrange(len(data)), rng.randrange(len(data))
        block = data[other : other + 256]
        found[at : at + len(block)] = block
    else:
        for _ in range(rng.choice((1, 1, 4, 200))):
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)
