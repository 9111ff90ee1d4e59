#!/bin/sh
# Create an environment that runs Rheostat: a virtual environment with the locked packages, Java, and Kafka's JARs.
# Usage: scripts/setup.sh [VENV [LOCK]]    defaults: .venv requirements/lock.txt; PYTHON=... selects the interpreter
# Existing parts are reused, so a second run needs no network. If a prerequisite is missing: one message, exit code 2.
set -u
cd "$(dirname "$0")/.." || exit 2
venv=${1:-.venv}
lock=${2:-requirements/lock.txt}
log=$venv/setup.log
pyspark=$(sed -n 's/^pyspark==\([0-9.]*\).*/\1/p' "$lock" | tail -n 1)

say() { echo "setup: $*"; }
stop() { echo "setup: $*" >&2; exit 2; }
can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
apt_install() { # PACKAGE
    say "installing $1 with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q --no-install-recommends "$1" >/dev/null 2>&1 && return
    apt-get update -q >/dev/null 2>&1
    apt-get install -y -q --no-install-recommends "$1" >/dev/null 2>&1
}

# 1. Python: PySpark 3.5 runs on 3.10 and 3.11, everything else up to 3.13.
case $pyspark in 3.*) newest=11 ;; *) newest=13 ;; esac
fits() { "$1" -c "import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, $newest))" >/dev/null 2>&1; }
choose_python() {
    for python in ${PYTHON:-python3 python3.12 python3.11 python3.13 python3.10 python}; do
        fits "$python" && return
    done
    found=$("${PYTHON:-python3}" --version 2>/dev/null) || found="none"
    stop "PySpark $pyspark needs Python 3.10 to 3.$newest, but ${PYTHON:-python3} is $found; install a supported version, or select one: make setup PYTHON=python3.11"
}
choose_python

# 2. Java, checked before large downloads.
find_java() { PYTHONPATH=src "$python" scripts/prepare.py java; }
find_java 2>/dev/null || {
    [ $? = 2 ] && can_apt && { apt_install openjdk-17-jdk-headless || apt_install openjdk-21-jdk-headless; }
    find_java || exit $?
}

# 3. The virtual environment.
if ! fits "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if ! "$python" -c 'import ensurepip' >/dev/null 2>&1; then
        can_apt && apt_install "python$version-venv"
        "$python" -c 'import ensurepip' >/dev/null 2>&1 || stop "Python $version has no ensurepip; install it (Debian or Ubuntu: apt-get install python$version-venv) and try again"
    fi
    say "creating $venv with Python $version"
    "$python" -m venv --clear "$venv" || stop "Python $version cannot create a virtual environment in $venv"
fi

# 4. The locked packages. The small build tools come first: they fail fast without a network.
pip_install() {
    {
        "$venv/bin/python" -m pip install --no-input --progress-bar off "$@" 2>&1
        echo "pip ended with $?"
    } | {
        while read -r line; do
            echo "$line" >>"$log"
            case $line in
            Collecting* | "Building wheel"*started) echo "setup:   ${line%% (*}" ;;
            "Installing collected"*) echo "setup:   Installing" ;;
            "pip ended with "*) status=${line##* } ;;
            esac
        done
        return "${status:-1}"
    }
}
failed() {
    why=$(grep -E '^ERROR' "$log" | tail -n 1)
    if grep -qE 'NewConnectionError|ConnectTimeout|NameResolution|ProxyError|ReadTimeout|Connection (aborted|refused|to .* timed out)|Max retries' "$log"; then
        why="the package index is unreachable; the first setup needs network access (or PIP_FIND_LINKS with the packages)"
    fi
    stop "the packages of $lock could not be installed: ${why:-see $log}"
}
: >"$log"
say "installing the packages of $lock (PySpark $pyspark is 400 MB and is built locally: a few minutes the first time)"
pip_install --retries 1 --constraint "$lock" pip setuptools setuptools-scm wheel || failed
pip_install --requirement "$lock" || failed
pip_install --no-deps --no-build-isolation --editable . --editable rheostat-lab || failed

# 5. The JARs.
say "fetching Kafka's JARs (110 MB the first time)"
"$venv/bin/python" scripts/prepare.py jars || exit $?
touch "$venv/.ready"
say "ready: $venv"
