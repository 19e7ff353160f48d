"""Install pip into the environment that runs this script, from the wheel on the package index.

For a Python without ensurepip and pip (Debian without python3-venv and python3-pip).  The index is $PIP_INDEX_URL or
PyPI; the wheel is checked against the index's sha256.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"


def main() -> None:
    if sys.prefix == sys.base_prefix:
        sys.exit("get_pip.py: only for virtual environments")
    with urllib.request.urlopen(INDEX, timeout=60) as answer:
        page, base = answer.read().decode(), answer.url
    found = []
    for tag in re.findall(r"<a\s[^>]*>", page):
        wheel = re.search(r'href="([^"#]*/)?(pip-(\d+(?:\.\d+)*)-py3-none-any\.whl)#sha256=([0-9a-f]{64})"', tag)
        if wheel and "data-yanked" not in tag:
            folder, name, version, checksum = wheel.groups()
            found.append((tuple(map(int, version.split("."))), (folder or "") + name, name, checksum))
    if not found:
        sys.exit(f"get_pip.py: no wheel of pip at {INDEX}")
    _, address, name, checksum = max(found)
    with urllib.request.urlopen(urllib.parse.urljoin(base, address), timeout=60) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != checksum:
        sys.exit(f"get_pip.py: {name} does not match the checksum of the index")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        # A wheel of pure Python runs from inside its archive.
        subprocess.run([sys.executable, str(path / "pip"), "install", "--no-index", str(path)], check=True)


if __name__ == "__main__":
    main()
