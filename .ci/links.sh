#!/usr/bin/env bash
# Makes the folder of links that shows the package of this checkout as it is installed: FOLDER/fem_mbs with everything in
# fem_mbs/ and the four packages that lie beside it.  Type checkers and editors read folders and never run the finder of
# fem_mbs/__init__.py; pyproject.toml names the folder to mypy and pyright.  Python does not use it.  Links to packages
# show new files at once; a new entry of fem_mbs/ itself needs another call (`make setup`).
#   .ci/links.sh FOLDER
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)/fem_mbs
cd "$(dirname "$0")/.."
rm -rf "$folder"
mkdir "$folder"
ln -s "$PWD"/fem_mbs/* "$folder"
for name in elements solvers meshes validation; do
    [ -f "$name/__init__.py" ] || { echo "links.sh: $PWD/$name is no package" >&2; exit 1; }
    ln -s "$PWD/$name" "$folder"
done
rm -f "$folder/__pycache__"
