#!/usr/bin/env bash
# Sets up the virtual environment $VENV (.venv) of this checkout: fem-mbs editable with its test tools, and CHOLMOD where
# that can be had.  Works on a fresh Debian or Ubuntu with Python >= 3.11, as root or not, with or without python3-venv;
# calls apt only where that needs no password; never installs anything into the system's Python.  Does nothing when
# everything is up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}
SYSTEM_PACKAGES=${SYSTEM_PACKAGES:-yes}
KERNELS=${KERNELS:-yes}
STAMP=$VENV/.ready
LOG=$VENV.log # outside, since the folder may be made anew

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

command -v "$PYTHON" >/dev/null || fail "no $PYTHON found; install Python >= 3.11 or call: make PYTHON=/path/to/python"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$PYTHON is $("$PYTHON" -V 2>&1); fem-mbs needs Python >= 3.11: make PYTHON=python3.12"

# Up to date means: same project file, same script, same interpreter, same checkout (an editable install knows its path).
key=$({ cat pyproject.toml .ci/setup.sh; "$PYTHON" -c 'import sys; print(sys.version, sys.prefix)'; pwd -P; } | cksum)
if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$key" ] && "$VENV/bin/python" -c 'import fem_mbs' 2>/dev/null; then
    .ci/links.sh "$VENV/links"
    exit 0
fi
mkdir -p "$(dirname "$VENV")"
: >"$LOG"
quietly() { "$@" >>"$LOG" 2>&1; }
trap 'status=$?; [ $status -eq 0 ] || { tail -n 25 "$LOG"; echo "setup: failed; the whole log is in $LOG"; } >&2' EXIT

# --- packages of the system -----------------------------------------------------------------------------------------
root=()
may_apt=no
if [ "$SYSTEM_PACKAGES" = yes ] && command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then
        may_apt=yes
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        may_apt=yes
        root=(sudo -n)
    fi
fi

apt_updated=no
apt_install() { # succeeds when the packages are there in the end
    local package missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ $may_apt = yes ] || return 1
    if [ $apt_updated = no ]; then
        quietly "${root[@]}" apt-get update || true
        apt_updated=yes
    fi
    say "installing ${missing[*]}"
    quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# --- virtual environment --------------------------------------------------------------------------------------------
have_pip() { [ -x "$VENV/bin/python" ] && "$VENV/bin/python" -m pip --version >/dev/null 2>&1; }
same_python() { # the environment was made by this interpreter
    [ "$("$VENV/bin/python" -c 'import sys; print(sys.version_info[:3], sys.base_prefix)' 2>/dev/null)" = \
        "$("$PYTHON" -c 'import sys; print(sys.version_info[:3], sys.base_prefix)')" ]
}

make_venv() {
    say "creating $VENV"
    rm -rf "$VENV"
    quietly "$PYTHON" -m venv "$VENV" && have_pip && return 0
    # Debian keeps ensurepip in python3-venv.
    local version
    version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    rm -rf "$VENV"
    { apt_install "python$version-venv" || apt_install python3-venv; } &&
        quietly "$PYTHON" -m venv "$VENV" && have_pip && return 0
    rm -rf "$VENV"
    quietly "$PYTHON" -m virtualenv "$VENV" && have_pip && return 0
    rm -rf "$VENV"
    if command -v uv >/dev/null; then
        quietly uv venv --seed --python "$PYTHON" "$VENV" && have_pip && return 0
        rm -rf "$VENV"
    fi
    # An environment without pip, filled by the pip of the system, which leaves the system's own packages alone.
    quietly "$PYTHON" -m venv --without-pip "$VENV" &&
        quietly "$PYTHON" -m pip --python "$VENV/bin/python" install pip && have_pip && return 0
    fail "no way to create a virtual environment: $PYTHON has no ensurepip; install python3-venv (Debian, Ubuntu), or \
virtualenv or uv, and try again"
}

if ! have_pip || ! same_python; then
    make_venv
fi

# --- CHOLMOD --------------------------------------------------------------------------------------------------------
version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cholmod=no
headers() { # prints the folder of cholmod.h
    local folder
    for folder in /usr/include/suitesparse "${CONDA_PREFIX:-/nowhere}/include/suitesparse" \
        "$(brew --prefix suitesparse 2>/dev/null || echo /nowhere)/include/suitesparse"; do
        if [ -f "$folder/cholmod.h" ]; then echo "$folder"; return 0; fi
    done
    return 1
}
if apt_install gcc libc6-dev libsuitesparse-dev libopenblas0-pthread ||
    { command -v cc >/dev/null && headers >/dev/null; }; then
    # The headers of a Python that apt did not install come with it.
    python_h=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
    if [ -f "$python_h" ] || apt_install "python$version-dev"; then
        cholmod=yes
    fi
fi

# --- Python packages ------------------------------------------------------------------------------------------------
say "installing fem-mbs and what it needs (some minutes the first time)"
pip=("$VENV/bin/python" -m pip --disable-pip-version-check --no-input)
quietly "${pip[@]}" install -e '.[test]'
if [ $cholmod = yes ] && ! quietly "$VENV/bin/python" -c 'import sksparse.cholmod'; then
    # scikit-sparse 0.5 needs SuiteSparse >= 7.4.
    config=$(headers)/SuiteSparse_config.h
    number() { sed -n "s/^ *# *define *$1 *\([0-9][0-9]*\).*/\1/p" "$config" | head -n 1; }
    main=$(number SUITESPARSE_MAIN_VERSION)
    sub=$(number SUITESPARSE_SUB_VERSION)
    limit='<0.5'
    if [ "${main:-0}" -gt 7 ] || { [ "${main:-0}" -eq 7 ] && [ "${sub:-0}" -ge 4 ]; }; then limit=''; fi
    say "building scikit-sparse for SuiteSparse ${main:-?}.${sub:-?}"
    quietly "${pip[@]}" install -e '.[cholmod]' ${limit:+"scikit-sparse$limit"} || true
fi
if ! quietly "$VENV/bin/python" -c 'import sksparse.cholmod'; then
    say "CHOLMOD is not available here (it needs gcc, libsuitesparse-dev, libopenblas0-pthread): using SuperLU, slower"
fi

quietly "$VENV/bin/python" -c 'import fem_mbs'

# --- machine code ---------------------------------------------------------------------------------------------------
# What the examples need, on all processors, so that no first run waits; the rest compiles when a model asks for it.
# Without it everything works as well.
if [ "$KERNELS" != no ]; then
    say "compiling the kernels of the examples (KERNELS=no leaves that to their first runs)"
    quietly "$VENV/bin/fem-mbs" compile examples/*/model.toml ||
        say "the kernels were not compiled in advance: the first run of a model does it"
    say "all others in advance: $VENV/bin/fem-mbs compile"
fi

.ci/links.sh "$VENV/links"
printf '%s\n' "$key" >"$STAMP"
rm -f "$LOG"
say "done"
