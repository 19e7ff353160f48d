#!/usr/bin/env bash
# Builds a wheel of this checkout that brings its machine code (fem_mbs/compiling/packed_code), for this platform and version of Python.
#   .ci/wheel.sh DIST [KERNEL ...]         the folder for the wheel; kernels, if not all
#   PLATFORM=manylinux_2_28_x86_64 ...     its platform tag, if it is not the one of this machine
# The usual wheel, pip wheel ., has none and fits everywhere.  Compiling takes five minutes of one processor.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
dist=$(cd "$1" && pwd)
kernels=("${@:2}")
PYTHON=${PYTHON:-python3}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$PYTHON" -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip --disable-pip-version-check install -q wheel
mkdir "$work/source" # a build writes into its source
tar -cf - --exclude=./.venv --exclude=./.git --exclude=./build --exclude="*.egg-info" . | tar -xf - -C "$work/source"
"$python" -m pip --disable-pip-version-check wheel -q --no-deps -w "$work" "$work/source"
"$python" -m pip --disable-pip-version-check install -q "$work"/fem_mbs-*.whl

# The installed package is what the digests of sources are of.
cp .ci/pack_code.py "$work"
(cd "$work" && NUMBA_CACHE_DIR="$work/cache" "$python" pack_code.py "$work/packed_code" ${kernels[@]+"${kernels[@]}"})
"$python" -m wheel unpack -d "$work/unpacked" "$work"/fem_mbs-*.whl
cp -r "$work/packed_code" "$work"/unpacked/fem_mbs-*/fem_mbs/compiling/
rm "$work"/fem_mbs-*.whl
"$python" -m wheel pack -d "$work" "$work"/unpacked/fem_mbs-*
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
platform=${PLATFORM:-$("$python" -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_").replace(".", "_"))')}
"$python" -m wheel tags --remove --python-tag "$tag" --abi-tag none --platform-tag "$platform" "$work"/fem_mbs-*.whl
mv "$work"/fem_mbs-*.whl "$dist"
