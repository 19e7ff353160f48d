#!/usr/bin/env bash
# Builds the source archive and the wheel of the current commit twice, with different folders, dates, time zones and umasks, and
# compares the bytes.  Dates in the archives are those of the commit.
#   .ci/build.sh DIST        output folder; SHA-256 sums are printed
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
dist=$(cd "$1" && pwd)
PYTHON=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

build() { # FOLDER UMASK TIME-ZONE
    (
        umask "$2"
        mkdir -p "$work/$1/source"
        git archive HEAD | tar -xmf - -C "$work/$1/source"
        TZ=$3 "$PYTHON" .ci/build.py "$work/$1/source" "$work/$1/dist" >"$work/$1/log" 2>&1 || { cat "$work/$1/log" >&2; exit 1; }
    )
}
build first 022 UTC
sleep 2 # longer than the resolution of dates in archives
build another/place 077 Asia/Tokyo
(cd "$work/first/dist" && sha256sum fem_mbs-*) | tee "$work/sums"
(cd "$work/another/place/dist" && sha256sum -c --quiet "$work/sums") || { echo "build: error: two builds differ" >&2; exit 1; }
mv "$work"/first/dist/fem_mbs-* "$dist"
