#!/usr/bin/env bash
# Makes the environment $PETSC_VENV (.venv-petsc) in which fem-mbs runs on PETSc, SLEPc and MUMPS: with Debian's Python,
# since Debian's petsc4py is built for that, and numpy 1, for which it is built too.  Asks apt for packages where that
# needs no password.  The environment of `make` stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=${PETSC_VENV:-.venv-petsc}
PYTHON=${PETSC_PYTHON:-/usr/bin/python3}
SYSTEM_PACKAGES=${SYSTEM_PACKAGES:-yes}
packages=(python3-petsc4py python3-slepc4py python3-mpi4py openmpi-bin python3-venv)

say() { printf 'petsc: %s\n' "$*"; }
fail() { printf 'petsc: error: %s\n' "$*" >&2; exit 1; }

command -v dpkg-query >/dev/null ||
    fail 'this is for Debian and Ubuntu; elsewhere: pip install "fem-mbs[petsc]" with a PETSc that has MUMPS (docs/distributed.md)'
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    [ "$SYSTEM_PACKAGES" = yes ] || fail "${missing[*]} are not installed, and SYSTEM_PACKAGES=$SYSTEM_PACKAGES"
    root=()
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || fail "install ${missing[*]}: sudo apt install ${missing[*]}"
        root=(sudo -n)
    fi
    say "installing ${missing[*]}"
    "${root[@]}" apt-get update -qq || true
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null ||
        fail "apt has no ${missing[*]}"
fi
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$PYTHON is older than 3.11"

[ -x "$VENV/bin/python" ] || "$PYTHON" -m venv --system-site-packages "$VENV"
# Where Debian keeps its builds for real numbers; its own link to them comes with the packages for developers.
site=$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' /usr/lib/petscdir/*/*-real/lib/python3/dist-packages /usr/lib/slepcdir/*/*-real/lib/python3/dist-packages \
    >"$site/petsc.pth"
say "installing fem-mbs into $VENV"
"$VENV/bin/python" -m pip --disable-pip-version-check install -q 'numpy<2' -e '.[test]'
"$VENV/bin/python" -c 'from fem_mbs.solvers.distributed.ranks import libraries; libraries()' ||
    fail "petsc4py does not work in $VENV"
say "ready: mpiexec -n 2 $VENV/bin/fem-mbs run MODEL.toml --backend petsc"
