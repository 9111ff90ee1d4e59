# mypy: disallow-untyped-calls=False
"""The operator's image as far as it can be checked without building it."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from rheostat.cli.operator import app

tomllib = pytest.importorskip("tomllib", reason="comes with Python 3.11")
ROOT = Path(__file__).parents[3]
FILE = ROOT / "deploy/docker/operator.Dockerfile"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def instructions():
    """Return each instruction with its words, without comments and line continuations."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def arguments_of(name):
    return [arguments for instruction, arguments in instructions() if instruction == name]


def deployment():
    manifests = list(yaml.safe_load_all((ROOT / "deploy/operator/deployment.yaml").read_text()))
    return manifests[0]["spec"]["template"]["spec"]


def test_only_known_instructions_are_used_and_the_first_is_from():
    names = [name for name, _ in instructions()]
    assert names[0] == "FROM"
    assert set(names) <= {"FROM", "COPY", "ENV", "RUN", "USER", "ENTRYPOINT", "CMD"}
    assert all(re.match(r"python:3\.\d+-slim\b", words) for words in arguments_of("FROM"))


def test_copied_paths_exist_and_cover_the_package_sources():
    sources = [
        word
        for words in arguments_of("COPY")
        if "--from" not in words
        for word in words.split()[:-1]
    ]
    assert all((ROOT / source).exists() for source in sources)
    assert {"pyproject.toml", "src", PROJECT["readme"], *PROJECT["license-files"]} <= set(sources)


def test_the_installed_extra_exists():
    (extra,) = re.findall(r'"/src\[(\w+)\]"', " ".join(arguments_of("RUN")))
    assert extra in PROJECT["optional-dependencies"]


def test_the_image_runs_as_the_deployments_user_and_starts_our_script():
    assert arguments_of("USER") == [str(deployment()["securityContext"]["runAsUser"])]
    (entry,) = arguments_of("ENTRYPOINT")
    assert yaml.safe_load(entry)[0].rpartition("/")[2] in PROJECT["scripts"]


def test_the_deployment_arguments_are_command_options():
    (container,) = deployment()["containers"]
    assert container["args"][:2] == yaml.safe_load(arguments_of("CMD")[0])
    command: Any = get_command(app)
    known = {name for parameter in command.commands["run"].params for name in parameter.opts}
    assert {word.partition("=")[0] for word in container["args"][2:]} <= known


def test_the_page_and_the_kustomization_name_the_dockerfile():
    name = str(FILE.relative_to(ROOT))
    assert name in (ROOT / "docs/deploy/operator.md").read_text()
    assert name in (ROOT / "deploy/operator/kustomization.yaml").read_text()
    assert not re.search(r"deploy/Dockerfile", (ROOT / "docs/deploy/operator.md").read_text())


@pytest.mark.parametrize("words", arguments_of("RUN"))
def test_every_run_command_is_valid_shell(words):
    assert "&&" in shlex.split(words)
