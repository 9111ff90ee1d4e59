#!/bin/sh
# Update the lock files in requirements/ to the newest versions that both distributions allow, for Python 3.10 to 3.13 on any platform.
# Usage: scripts/lock.sh VERSION...    older PySpark versions, each with a separate lock file (make lock)
set -eu
cd "$(dirname "$0")/.."
umask 022

[ -x .venv-lock/bin/uv ] || { "${PYTHON:-python3}" -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet uv; }

compile() { # OUTPUT [OPTION...]
    output=$1
    shift
    .venv-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --no-annotate \
        --custom-compile-command "make lock" --no-emit-package rheostat --output-file "$output" "$@" pyproject.toml rheostat-lab/pyproject.toml requirements/setup.in
    echo "$output"
}

compile requirements/lock.txt --all-extras
for version in "$@"; do
    # All other packages as in lock.txt, so that the environments of the matrix differ only in PySpark.
    { grep -Ev '^(pyspark|py4j)==' requirements/lock.txt; echo "pyspark==$version"; } |
        compile "requirements/lock-$version.txt" --constraint - --extra spark --extra kafka --extra delta --extra cli --extra serve --extra sim requirements/test.in
done
