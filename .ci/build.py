"""Build the source archive of a checkout, and from it the wheel, reproducibly: the same bytes at any time and place.

    SOURCE_DATE_EPOCH=SECONDS python .ci/build.py SOURCE DIST

SOURCE is a copy of the checkout, since builds write into it; DIST is the output folder.  setuptools takes the dates in
a wheel from SOURCE_DATE_EPOCH.  Its source archive contains dates, owners and modes of the files, so it is packed again
with fixed ones.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import tarfile
import tempfile
from pathlib import Path

from setuptools import build_meta


def repack(path: Path, seconds: int) -> None:
    """Replace dates (by ``seconds`` of Unix time), owners and modes in a source archive, and sort its entries."""
    with tarfile.open(path) as archive:
        entries = [(m, f.read() if (f := archive.extractfile(m)) else b"") for m in archive.getmembers()]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member, data in sorted(entries, key=lambda entry: entry[0].name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = seconds, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            archive.addfile(member, io.BytesIO(data))
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=seconds))


def build(source: Path, dist: Path) -> None:
    """Build ``fem_mbs-VERSION.tar.gz``, and the wheel from the content of this archive."""
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    os.umask(0o022)  # wheels keep the modes of files
    dist = dist.resolve()
    dist.mkdir(parents=True, exist_ok=True)
    os.chdir(source)
    archive = dist / build_meta.build_sdist(str(dist))
    repack(archive, seconds)
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(archive) as packed:
            packed.extractall(work, filter="data")
        os.chdir(next(Path(work).iterdir()))
        build_meta.build_wheel(str(dist))
        os.chdir(dist)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
