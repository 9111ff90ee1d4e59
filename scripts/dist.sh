#!/bin/sh
# Build the wheels and source archives of both distributions into dist/, check them, and install the wheel with each extra alone.
# Usage: scripts/dist.sh [quick]    quick: skip the installations. The first run needs network access.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv-dist/bin/twine ] || {
    "${PYTHON:-python3}" -m venv .venv-dist
    .venv-dist/bin/python -m pip install --quiet --requirement requirements/dist.in
}
rm -rf dist build/lib src/*.egg-info rheostat-lab/build rheostat-lab/src/*.egg-info
.venv-dist/bin/python -m build --outdir dist . >/dev/null
.venv-dist/bin/python -m build --outdir dist rheostat-lab >/dev/null
.venv-dist/bin/twine check --strict dist/*
.venv-dist/bin/check-wheel-contents dist/*.whl
[ "${1:-}" = quick ] && exit

wheel=$(ls dist/rheostat-[0-9]*.whl)
lab=
try() { # EXTRA COMMAND...: the command must work with only this extra installed
    extra=$1
    shift
    folder=$(mktemp -d)
    "${PYTHON:-python3}" -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip install --quiet "$wheel$extra" ${lab:+"$lab"}
    (cd "$folder" && "$folder/venv/bin/python" "$@" >/dev/null) || { echo "dist: $wheel$extra ${lab:+with $lab }failed: $*" >&2; exit 1; }
    rm -rf "$folder"
    echo "dist: works with ${lab:-${extra:-no extra}}"
}
try "" -c 'import rheostat; rheostat.Limits.between(1, 8)'
try "[kafka]" -c 'import rheostat.kafka.offsets'
try "[cli]" -m rheostat.cli policies hpa
try "[spark]" -c 'import rheostat; rheostat.attach'
try "[sim]" -c 'import rheostat.sim.fitting.counterfactual'
lab=$(ls dist/rheostat_lab-*.whl)
try "" -c 'import rheostat_lab.report.summary, rheostat_lab.demo.verdict'
