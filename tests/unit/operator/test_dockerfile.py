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


def given(name):
    return [words for each, words in instructions() if each == name]


def deployment():
    made = list(yaml.safe_load_all((ROOT / "deploy/operator/deployment.yaml").read_text()))
    return made[0]["spec"]["template"]["spec"]


def test_it_has_only_instructions_that_docker_knows_and_begins_with_an_image():
    names = [name for name, _ in instructions()]
    assert names[0] == "FROM"
    assert set(names) <= {"FROM", "COPY", "ENV", "RUN", "USER", "ENTRYPOINT", "CMD"}
    assert all(re.match(r"python:3\.\d+-slim\b", words) for words in given("FROM"))


def test_what_is_copied_is_there_and_is_all_that_the_package_is_made_from():
    sources = [
        word for words in given("COPY") if "--from" not in words for word in words.split()[:-1]
    ]
    assert all((ROOT / source).exists() for source in sources)
    assert {"pyproject.toml", "src", PROJECT["readme"], *PROJECT["license-files"]} <= set(sources)


def test_what_is_installed_is_an_extra_of_ours():
    (extra,) = re.findall(r'"/src\[(\w+)\]"', " ".join(given("RUN")))
    assert extra in PROJECT["optional-dependencies"]


def test_it_runs_as_the_user_that_the_deployment_names_and_starts_our_script():
    assert given("USER") == [str(deployment()["securityContext"]["runAsUser"])]
    (entry,) = given("ENTRYPOINT")
    assert yaml.safe_load(entry)[0].rpartition("/")[2] in PROJECT["scripts"]


def test_the_deployments_arguments_are_options_of_the_command():
    (container,) = deployment()["containers"]
    assert container["args"][:2] == yaml.safe_load(given("CMD")[0])
    command: Any = get_command(app)
    known = {name for each in command.commands["run"].params for name in each.opts}
    assert {word.partition("=")[0] for word in container["args"][2:]} <= known


def test_the_page_and_the_kustomization_name_the_file():
    name = str(FILE.relative_to(ROOT))
    assert name in (ROOT / "docs/deploy/operator.md").read_text()
    assert name in (ROOT / "deploy/operator/kustomization.yaml").read_text()
    assert not re.search(r"deploy/Dockerfile", (ROOT / "docs/deploy/operator.md").read_text())


@pytest.mark.parametrize("words", given("RUN"))
def test_every_command_line_can_be_read_by_a_shell(words):
    assert "&&" in shlex.split(words)
