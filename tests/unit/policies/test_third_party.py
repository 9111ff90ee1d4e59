"""Policies from other distributions."""

import json
from pathlib import Path

import pytest

from rheostat.cli.app import run
from rheostat.cli.policies import describe
from rheostat.errors import BadInput
from rheostat.policies.registry import POLICIES, create, find
from rheostat.testing.contracts import policy_checks

EXAMPLE = Path(__file__).parents[3] / "examples" / "04_own_policy.py"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An installed distribution, as pip leaves it: a module and its metadata."""
    (tmp_path / "their_policies.py").write_text(EXAMPLE.read_text(encoding="utf-8"))
    info = tmp_path / "their_policies-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-policies\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[rheostat.policies]\n"
        "per-executor = their_policies:PerExecutor\n"
        "hpa = their_policies:PerExecutor\n"
        "broken = their_policies:Nothing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
class TestInstalled:
    def test_a_third_party_policy_is_created_by_name_with_parameters(self):
        assert create("per-executor", {"rows_per_s": "500"}).rows_per_s == 500  # type: ignore[attr-defined]

    def test_a_third_party_policy_is_listed_with_its_origin(self, capsys):
        assert run(["policies", "--json"]) == 0
        listed = {
            policy["name"]: policy["origin"] for policy in json.loads(capsys.readouterr().out)
        }
        assert listed["per-executor"] == "their-policies 1.2"
        assert listed["measured-throughput"] == "rheostat"

    def test_a_built_in_name_takes_precedence(self):
        assert find("hpa") is POLICIES["hpa"]
        assert describe("hpa").origin == "rheostat"

    def test_a_policy_that_cannot_be_loaded_is_reported_in_one_line(self):
        with pytest.raises(BadInput, match=r"their_policies:Nothing.*cannot be loaded"):
            find("broken")

    def test_an_unknown_name_lists_third_party_policies(self):
        with pytest.raises(BadInput, match=r"varga-v2, .*per-executor"):
            find("nope")

    @pytest.mark.parametrize(("promise", "check"), policy_checks())
    def test_third_party_policies_pass_the_policy_contract(self, promise, check):
        check(find("per-executor"))
