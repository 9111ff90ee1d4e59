"""The command line of ``rheostat run`` takes precedence over ``spark.rheostat.*``, and that over
the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from rheostat.cli import run
from rheostat.cli.app import application
from rheostat.cli.run import RunOptions
from rheostat.config import LoopOptions
from rheostat.errors import BadInput
from rheostat.local.app_run import settings_for
from rheostat.model import Limits
from rheostat.settings import Settings

CONF = {
    "spark.rheostat.policy": "fixed",
    "spark.rheostat.policy.executors": "3",
    "spark.rheostat.slo": "30",
    "spark.rheostat.limits.min": "2",
    "spark.rheostat.limits.max": "6",
    "spark.rheostat.loop.interval_s": "2",
    "spark.rheostat.loop.cooldown_in_s": "9",
    "spark.rheostat.placement": "off",
}


@pytest.fixture
def settings_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function from a configuration and a command line to the merged settings."""
    script = tmp_path / "app.py"
    script.touch()
    lines: list[Mapping[str, Any]] = []

    def capture(_: Path, __: RunOptions, cli: Mapping[str, Any]) -> Any:
        lines.append(cli)
        raise typer.Exit

    monkeypatch.setattr(run, "request_of", capture)

    def make(*arguments: str, conf: dict[str, str] = CONF) -> Settings:
        application("run")(["run", str(script), *arguments], standalone_mode=False)
        return settings_for(script, conf, lines[-1])

    return make


def test_without_options_the_configuration_applies(settings_of: Any) -> None:
    settings = settings_of()
    assert (settings.policy, settings.parameters) == ("fixed", {"executors": "3"})
    assert (settings.slo.latency_s, settings.limits) == (30.0, Limits.between(2, 6))
    assert settings.loop == LoopOptions(interval_s=2.0, cooldown_in_s=9.0)
    assert settings.state.placement == "off"


def test_without_options_and_configuration_the_defaults_apply(settings_of: Any) -> None:
    assert settings_of(conf={}) == Settings(limits_given=True)


def test_an_option_with_its_default_value_overrides_the_configuration(settings_of: Any) -> None:
    settings = settings_of("--slo", "10", "--max", "8", "--interval", "5", "--placement", "auto")
    assert (settings.slo.latency_s, settings.limits) == (10.0, Limits.between(2, 8))
    assert settings.loop == LoopOptions(cooldown_in_s=9.0)
    assert settings.state.placement == "auto"


def test_a_policy_on_the_command_line_discards_configured_parameters(settings_of: Any) -> None:
    assert settings_of("--policy", "pid").parameters == {}
    assert settings_of("--set", "executors=4").parameters == {"executors": "4"}


def test_an_invalid_configuration_value_is_reported(settings_of: Any) -> None:
    with pytest.raises(BadInput, match=r"slo: the latency objective must be seconds, .* 'soon'"):
        settings_of(conf={"spark.rheostat.slo": "soon"})


def test_a_priority_is_a_setting_and_an_option(settings_of: Any) -> None:
    conf = {**CONF, "spark.rheostat.priority": "orders=2"}
    assert settings_of(conf=conf).priority == {"orders": 2.0}
    assert settings_of("--priority", "audit=3,orders=2", conf=conf).priority == {
        "audit": 3.0,
        "orders": 2.0,
    }
    with pytest.raises(BadInput, match=r"priority: priority must be .* it is 'high'"):
        settings_of(conf={"spark.rheostat.priority": "high"})
