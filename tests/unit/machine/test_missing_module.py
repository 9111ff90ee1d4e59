from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import rheostat
from rheostat.machine.missing_module import Installation, advice, extras_of

REQUIRES = (
    "numpy>=1.26",
    'pyspark<4.4,>=3.5; extra == "spark"',
    'confluent-kafka>=2.5; extra == "kafka"',
    'typer>=0.29; extra == "cli"',
    'psutil>=5.9; extra == "cli"',
    'grpcio>=1.76; extra == "connect"',
    'pandas<3; extra == "connect"',
    'psutil>=5.9; extra == "connect"',
    'protobuf<7,>=6.33; python_version < "4" and extra == "connect"',
    'scipy>=1.11; extra == "sim"',
    "pyyaml>=6; extra == 'sim'",
    'pytest>=8; extra == "test"',
    'scipy; extra == "test"',
)
FROM_INDEX = Installation(requires=REQUIRES)


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("scipy", "sim"),
        ("scipy.optimize", "sim"),
        ("yaml", "sim"),
        ("py4j", "spark"),
        ("pyspark", "spark"),
        ("confluent_kafka", "kafka"),
        ("google.protobuf", "connect"),
        ("typer", "cli"),
        ("psutil", "cli"),
        ("grpcio", "connect"),
    ],
)
def test_the_extra_that_provides_a_module_is_named(module: str, extra: str) -> None:
    message = advice(module, FROM_INDEX)
    assert message == (
        f"the Python module {module} is missing; it comes with the extra {extra},"
        f" pip install 'rheostat[{extra}]'"
    )


def test_a_module_without_an_extra_is_installed_by_its_name() -> None:
    message = "the Python module tensorflow is missing; install it with: pip install tensorflow"
    assert advice("tensorflow", FROM_INDEX) == message
    assert advice("scipy", Installation()).endswith("pip install scipy")


def test_development_dependencies_are_not_an_extra() -> None:
    assert set(extras_of(REQUIRES)) == {"spark", "kafka", "cli", "connect", "sim"}


@pytest.mark.parametrize(
    ("installation", "command"),
    [
        (Installation(clone=Path("/src/rheostat")), "in /src/rheostat: pip install -e '.[sim]'"),
        (
            Installation(url="file:///tmp/rheostat-0.1.0-py3-none-any.whl"),
            "pip install '/tmp/rheostat-0.1.0-py3-none-any.whl[sim]'",
        ),
        (
            Installation(url="git+https://host/r.git@abc"),
            "pip install 'rheostat[sim] @ git+https://host/r.git@abc'",
        ),
        (Installation(), "pip install 'rheostat[sim]'"),
    ],
)
def test_the_advice_uses_the_origin_of_the_installation(
    installation: Installation, command: str
) -> None:
    assert installation.command("sim") == command


def test_a_missing_file_of_rheostat_indicates_a_damaged_installation() -> None:
    message = advice("rheostat.sim.engine", FROM_INDEX)
    assert message.startswith("the file rheostat/sim/engine of Rheostat itself is missing")
    assert message.endswith("pip install --force-reinstall 'rheostat'")
    assert "git status" in advice("rheostat.sim.engine", Installation(clone=Path("/src/r")))


def _link(folder: Path, *names: str) -> None:
    """Link distributions of this environment, and their dependencies, into a folder."""
    for name in names:
        installed = distribution(name)
        for top in {Path(str(file)).parts[0] for file in installed.files or ()} - {
            "..",
            "__pycache__",
        }:
            source, link = Path(str(installed.locate_file(top))), folder / top
            if not link.exists():
                link.symlink_to(source)
        needed = [text for text in installed.requires or () if ";" not in text]
        _link(folder, *(re.findall(r"[A-Za-z0-9._-]+", text)[0] for text in needed))


def _run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run the command line with only the standard library and a folder."""
    code = f"import sys; sys.path.append({str(folder)!r}); from rheostat.cli import main; main()"
    command = [sys.executable, "-S", "-E", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """An environment with Rheostat from a wheel, numpy, and nothing else."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "rheostat").symlink_to(Path(rheostat.__file__).parent)
    info = folder / "rheostat-0.1.0.dist-info"
    info.mkdir()
    needs = "".join(f"Requires-Dist: {text}\n" for text in distribution("rheostat").requires or ())
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: rheostat\nVersion: 0.1.0\n{needs}"
    )
    origin = {"url": "file:///tmp/rheostat.whl", "archive_info": {}}
    (info / "direct_url.json").write_text(json.dumps(origin))
    _link(folder, "numpy")
    return folder


@pytest.mark.parametrize(
    ("installed", "arguments", "module", "extra"),
    [
        ((), ["policies"], "typer", "cli"),
        (("typer", "rich"), ["calibrate", "SPEC"], "scipy", "sim"),
        (("typer", "rich", "psutil"), ["run", "--master", "local[1]", "SPEC"], "py4j", "spark"),
    ],
)
def test_the_missing_extra_is_named_in_an_empty_environment(
    empty: Path,
    installed: tuple[str, ...],
    arguments: list[str],
    module: str,
    extra: str,
) -> None:
    _link(empty, *installed)
    spec = empty / "a.yaml"
    spec.write_text("")
    replaced = [str(spec) if argument == "SPEC" else argument for argument in arguments]
    code, out, err = _run(empty, *replaced)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"the Python module {module}" in err
    assert f"it comes with the extra {extra}, pip install '/tmp/rheostat.whl[{extra}]'" in err


@pytest.mark.parametrize("words", ["demo", "simulate queue --runs 2", "lab run SPEC"])
def test_lab_commands_name_the_lab_package_if_it_is_missing(empty: Path, words: str) -> None:
    _link(empty, "typer", "rich")
    assert _run(empty, *words.split()) == (
        2,
        "",
        f"rheostat: the command {words.split()[0]} comes with the package rheostat-lab,"
        " pip install rheostat-lab\n",
    )


@pytest.mark.parametrize(
    ("installation", "command"),
    [
        (Installation(clone=Path("/src/r")), "in /src/r: pip install -e rheostat-lab"),
        (Installation(url="file:///tmp/rheostat.whl"), "pip install rheostat-lab"),
        (
            Installation(url="git+https://host/r.git@abc"),
            "pip install 'rheostat-lab @ git+https://host/r.git@abc#subdirectory=rheostat-lab'",
        ),
    ],
)
def test_the_lab_is_installed_from_the_origin_of_rheostat(
    installation: Installation, command: str
) -> None:
    assert installation.lab_advice() == f"comes with the package rheostat-lab, {command}"
