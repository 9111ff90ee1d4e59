"""The example in CONTRIBUTING.md works exactly as described, in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REGISTRY = "src/rheostat/policies/registry.py"
POLICY = "src/rheostat/policies/rates/arrival_rate.py"
TEST = "tests/unit/policies/rates/test_arrival_rate.py"
CONTRACT = "tests/contract/test_policies_contract.py"


def blocks() -> dict[str, str]:
    """Return the Python blocks of the page by the path in their first line."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return dict(re.findall(r"```python\n# (\S+)\n(.*?)```", page, re.DOTALL))


def register(registry: Path, import_line: str, entry: str) -> None:
    text = registry.read_text(encoding="utf-8")
    text = re.sub(
        r"^(?=from rheostat\.policies\.)", f"{import_line}\n", text, count=1, flags=re.MULTILINE
    )
    text = re.sub(r"^(POLICIES: .*\{\n)", rf"\1{entry}\n", text, count=1, flags=re.MULTILINE)
    registry.write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Copy the package and write the example into it, as a reader would."""
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    examples = blocks()
    for path in (POLICY, TEST):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(examples[path], encoding="utf-8")
    register(tmp_path / REGISTRY, *examples[REGISTRY].splitlines())
    (tmp_path / CONTRACT).parent.mkdir(parents=True)
    shutil.copy(ROOT / CONTRACT, tmp_path / CONTRACT)
    return tmp_path


def run(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(repository / "src")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_the_page_shows_one_file_one_test_file_and_two_registry_lines():
    assert set(blocks()) == {POLICY, TEST, REGISTRY}
    assert len(blocks()[REGISTRY].splitlines()) == 2


def test_the_example_passes_its_own_tests_and_the_contract_of_policies(repository):
    ended = run(
        repository,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        TEST,
        CONTRACT,
        "-k",
        "arrival or sorted",
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # The example has 3 tests; more must have passed, because the contract includes the new policy.
    assert int(re.findall(r"(\d+) passed", ended.stdout)[0]) > 4


def test_the_example_is_created_by_name_with_a_parameter_as_text(repository):
    ended = run(
        repository,
        "-c",
        "from rheostat.policies.registry import create; print(create('arrival-rate', {'rows_per_s':"
        " '800'}))",
    )
    assert ended.stdout.strip() == "ArrivalRate(rows_per_s=800.0)", ended.stderr
