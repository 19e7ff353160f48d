#!/usr/bin/env bash
# Runs a part of the tests with the oldest versions of all dependencies that pyproject.toml admits, or with the newest ones, in a
# separate environment.  All tests are collected, which imports every module; the tests of code that calls other libraries run.
#   .ci/versions.sh oldest|newest [PYTEST ARGUMENTS]
#   PYTHON=python3.13 .ci/versions.sh newest    another interpreter
#   ENVIRONMENT=folder ...                      keep the environment and its compiled kernels in this folder
set -euo pipefail
cd "$(dirname "$0")/.."

which=${1:-}
case $which in oldest | newest) shift ;; *) echo "versions: error: give oldest or newest" >&2; exit 2 ;; esac
PYTHON=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
environment=${ENVIRONMENT:-$work/venv}

constraints=$work/constraints.txt
: >"$constraints"
# Old libraries cause deprecation warnings of their own dependencies, which are newer.
warnings=()
if [ "$which" = oldest ]; then
    "$PYTHON" .ci/bounds.py test >"$constraints"
    warnings=(-W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning)
fi
[ -x "$environment/bin/python" ] || "$PYTHON" -m venv "$environment"
python=$environment/bin/python
mkdir "$work/source" # a build writes into its source
tar -cf - --exclude="./.venv*" --exclude=./.git --exclude=./build --exclude="*.egg-info" --exclude=__pycache__ . |
    tar -xf - -C "$work/source"
# The environment variable applies the constraints to the build environment as well.
PIP_CONSTRAINT=$constraints "$python" -m pip --disable-pip-version-check --no-input install -q "$work/source[test]"
"$python" -m pip check
"$python" -m pip --disable-pip-version-check list | grep -i -E '^(numpy|scipy|numba|llvmlite|meshio|matplotlib|pillow|h5py|rich|typer|threadpoolctl) '

cd "$work/source"
# A separate cache, since kernels of another numba version would replace those of the user.
export NUMBA_CACHE_DIR=$environment/cache
pytest=("$python" -m pytest -q -p no:cacheprovider ${warnings[@]+"${warnings[@]}"})
tests=(tests/declarations tests/meshes tests/modelfile tests/plot tests/results/test_released_versions.py
    tests/solvers/test_linear.py tests/solvers/test_constraint_equations.py)
if [ $# -eq 0 ]; then
    "${pytest[@]}" --collect-only tests | tail -n 1
    set -- "${tests[@]}" -m "not long"
fi
"${pytest[@]}" "$@"
