"""A user's own policy in the folder of the script."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rheostat.cli.options import chosen
from rheostat.errors import BadInput
from rheostat.policies.third_party import make_importable

OWN = """
class Mine:
    def __init__(self, size=1):
        self.size = size
    def decide(self, observation, memory):
        raise NotImplementedError
"""


@pytest.fixture(autouse=True)
def restored_modules() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def test_a_policy_next_to_the_script_is_loaded_with_its_parameters(tmp_path: Path) -> None:
    (tmp_path / "beside_app.py").write_text(OWN)
    make_importable("beside_app:Mine", tmp_path)
    assert chosen("beside_app:Mine", ["size=3"]) == {"size": "3"}
    with pytest.raises(BadInput, match="has no parameter 'width'; it has size"):
        chosen("beside_app:Mine", ["width=3"])


def test_a_policy_in_the_current_folder_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here_now.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    assert chosen("here_now:Mine", None) == {}


def test_a_policy_in_the_script_itself_is_rejected_without_running_it(tmp_path: Path) -> None:
    script = tmp_path / "whole_app.py"
    script.write_text(OWN + "raise SystemExit('it was run')")
    with pytest.raises(BadInput, match="is in the script itself"):
        make_importable("whole_app:Mine", tmp_path, script)


@pytest.mark.parametrize("text", ["1 +", "import no_such_module_at_all", "raise ValueError('x')"])
def test_a_module_that_cannot_be_imported_is_reported_in_one_line(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_one.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="cannot be loaded") as refused:
        chosen("broken_one:Mine", [])
    assert "\n" not in str(refused.value)


def test_a_registered_policy_leaves_the_module_path_unchanged() -> None:
    before = list(sys.path)
    chosen("hpa", ["metrics=cpu 0.3"])
    assert sys.path == before
