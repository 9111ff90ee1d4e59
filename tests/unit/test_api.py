from __future__ import annotations

import inspect
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rheostat
from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput
from rheostat.guards import guard
from rheostat.model import Decision, Limits, Observation, Slo, hold
from rheostat.settings import Settings, settings_of


class RemoteSession:
    """A Spark Connect session: it has queries, but no JVM."""

    def __init__(self, **settings: str) -> None:
        self.streams = SimpleNamespace(active=[])
        self.conf = SimpleNamespace(getAll=settings)
        self.is_stopped = False

    @property
    def sparkContext(self) -> Any:  # noqa: N802
        raise AttributeError(
            "[JVM_ATTRIBUTE_NOT_SUPPORTED] sparkContext is not supported in Spark Connect"
        )


RemoteSession.__module__ = "pyspark.sql.connect.session"


class SessionOf35(RemoteSession):
    """A session of PySpark 3.5, which lists settings through SQL with secrets hidden."""

    def __init__(self, **settings: str) -> None:
        super().__init__()
        self.conf = SimpleNamespace(get=settings.__getitem__)
        self._names = list(settings)

    def sql(self, text: str) -> Any:
        assert text == "SET"
        return SimpleNamespace(collect=lambda: [(name, "***(redacted)") for name in self._names])


SessionOf35.__module__ = RemoteSession.__module__


class Own:
    def decide(self, observation, memory):
        return Decision(target=1, reason="one"), memory


@pytest.mark.parametrize(
    ("way", "message"),
    [(rheostat.attach, "Spark Connect: "), (rheostat.shadow, "Spark Connect shows no executors: ")],
)
def test_spark_connect_is_observed_and_its_limits_are_reported_in_one_line(
    way, message, tmp_path, caplog
):
    remote = RemoteSession()
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        handle = way(remote, journal=tmp_path, loop=LoopOptions(interval_s=0.002))
    assert [text.count(message) for text in caplog.messages if "Connect" in text] == [1]
    assert not handle.capabilities.can_scale
    assert handle.running
    remote.is_stopped = True
    handle._thread.join(timeout=60)
    assert not handle.running
    handle.stop()
    assert handle.last is not None
    assert handle.last.rescaling.phase == "idle"
    assert not any("failed" in text for text in caplog.messages)


@pytest.mark.parametrize("kind", [RemoteSession, SessionOf35])
def test_settings_of_a_running_session_apply_on_every_pyspark(kind, tmp_path):
    own = {"spark.rheostat.journal": str(tmp_path / "told"), "spark.rheostat.slo": "20"}
    handle = rheostat.shadow(kind(**own, **{"spark.sql.ansi.enabled": "true"}))
    handle.stop()
    assert handle.journal == tmp_path / "told"
    with pytest.raises(BadInput, match=r"spark\.rheostat\.polcy is not a setting of Rheostat"):
        rheostat.shadow(kind(**{"spark.rheostat.polcy": "hpa"}))


def test_numbers_and_texts_are_converted_to_settings():
    made = settings_of(
        slo=5,
        limits=(2, 4),
        journal="there",
        policy="spark-batch-ratio",
        parameters={"up_ratio": "0.8"},
    )
    assert (made.slo, made.limits, made.journal) == (
        Slo(latency_s=5),
        Limits(min_executors=2, max_executors=4),
        Path("there"),
    )
    assert made.built_policy.up_ratio == 0.8  # type: ignore[attr-defined]
    assert settings_of() == Settings()


def test_requested_guards_have_a_fixed_order():
    made = settings_of(
        guards=GuardOptions(undo=True, excluded="08:00-09:00"), loop=LoopOptions(cooldown_in_s=7.0)
    )
    assert [rule.name for rule in made.built_guards] == [
        "undo",
        "stale_data",
        "excluded_periods",
        "reversal",
        "cooldown",
        "receiver_room",
        "real_time",
        "bounds",
    ]


def test_a_policy_can_be_an_object():
    own = Own()
    made = settings_of(policy=own)
    assert (made.built_policy, made.policy_name) == (own, "Own")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policy": "no-such"}, "unknown policy 'no-such'; there are "),
        ({"parameters": {"no_such": 1}}, "has no parameter 'no_such'; it has "),
        ({"limits": (4, 2)}, r"min executors \(4\) is above max executors \(2\)"),
        ({"limits": (-1, 2)}, "min executors must be at least 1, but it is -1"),
        ({"slo": 0}, "must be above 0 seconds, but it is 0"),
        (
            {"guards": GuardOptions(step_out=-2)},
            "step limit out must be at least 1 executor, but it is -2",
        ),
        ({"slo": "soon"}, "must be seconds, such as 10, or seconds by query"),
        ({"slo": {}}, "must name at least one query"),
        ({"slo": {"orders": -1}}, "must be above 0 seconds, but it is -1"),
        ({"slo": float("inf")}, "must be a number of seconds, such as 10, but it is inf"),
        ({"slo": float("nan")}, "must be above 0 seconds, but it is nan"),
        ({"slo": -3}, "must be above 0 seconds, but it is -3"),
        ({"slo": True}, "must be a number of seconds, such as 10, but it is True"),
        ({"limits": (1.5, 2)}, "min executors must be a whole number, but it is 1.5"),
        ({"limits": 3}, r"limits= must be the least and the most .*, as \(1, 8\), but it is 3"),
        ({"limits": (1, 2, 3)}, r"limits= must be .*, but it is \(1, 2, 3\)"),
        ({"policy": object()}, r"with decide\(observation, memory\), but <object object at .* has"),
        ({"policy": Own}, r"is the class Own; make one: policy=Own\(...\)"),
        (
            {"policy": Own(), "parameters": {"up": 1}},
            r"parameters= \(up\) are for a policy by name",
        ),
        ({"parameters": [1]}, r"parameters= must be a mapping .*, but it is \[1\]"),
        ({"loop": 5}, "loop= must be of type LoopOptions, but it is 5"),
        ({"guards": {}}, r"guards= must be of type GuardOptions, but it is \{\}"),
        ({"journal": 5}, "journal= must be a folder, but it is 5"),
        ({"standby": 1.5}, "standby must be a whole number, but it is 1.5"),
        ({"replace": 1}, "replace= must be of type bool, but it is 1"),
        ({"kafka": 9092}, "kafka= must be 'host:port' or a mapping .*, but it is 9092"),
        ({"kafka": ""}, "bootstrap.servers must be 'host:port', but it is ''"),
        (
            {"kafka": {"bootstrap.servers": "x:1", "secruity.protocol": "SSL"}},
            'kafka= cannot be used: No such configuration property: "secruity.protocol"',
        ),
        ({"kafka": {"bootstrap": "x"}}, "kafka= needs 'bootstrap.servers', but it has bootstrap"),
    ],
)
def test_invalid_arguments_are_rejected_before_any_change(given, message):
    with pytest.raises(BadInput, match=message):
        rheostat.attach(object(), **given)


@pytest.mark.parametrize("way", [rheostat.attach, rheostat.shadow])
@pytest.mark.parametrize("spark", [None, object(), RemoteSession])
def test_an_object_that_is_not_a_session_is_rejected(way, spark):
    with pytest.raises(BadInput, match="a SparkSession is needed, but it is "):
        way(spark)


@pytest.mark.parametrize("way", [rheostat.attach, rheostat.shadow])
def test_a_stopped_session_is_rejected_and_nothing_is_written(way, tmp_path):
    stopped = RemoteSession()
    stopped.is_stopped = True
    with pytest.raises(BadInput, match="this SparkSession has been stopped"):
        way(stopped, journal=tmp_path / "journal")
    assert not (tmp_path / "journal").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_executors": 4}, r"attach has no argument 'max_executors'; use limits=\(1, 4\)"),
        ({"min": 2, "max": 6}, r"attach has no argument 'min'; use limits=\(2, 6\)"),
        (
            {"interval_s": 5},
            r"no argument 'interval_s'; use loop=rheostat.LoopOptions\(interval_s=5\)",
        ),
        ({"polcy": "fixed"}, r"no argument 'polcy'; did you mean policy="),
        ({"zzz": 1}, "no argument 'zzz'; it has policy, parameters, slo"),
    ],
)
def test_a_wrong_argument_is_rejected_with_the_correct_one(given, message):
    with pytest.raises(BadInput, match=message):
        rheostat.attach(object(), **given)


def test_a_positional_argument_is_rejected_with_the_correct_form():
    with pytest.raises(BadInput, match="shadow takes only the session by position"):
        rheostat.shadow(object(), "predictive")  # type: ignore[arg-type]


def test_serve_accepts_a_port_number():
    assert settings_of(serve=9096).serve.address == ("127.0.0.1", 9096)
    for wrong in (True, -1, 65_536):
        with pytest.raises(BadInput, match="serve must be a port or HOST:PORT"):
            settings_of(serve=wrong)


@pytest.mark.parametrize("way", [rheostat.attach, rheostat.shadow])
def test_attach_and_shadow_have_the_same_signature(way):
    assert inspect.signature(way) == inspect.signature(rheostat.attach)


def test_a_broker_can_be_a_string():
    assert settings_of(kafka="broker:9092").kafka == {"bootstrap.servers": "broker:9092"}


def test_without_a_configured_ceiling_the_current_size_is_allowed():
    twenty = Observation(t_s=0.0, executors=20)
    for made, target in ((settings_of(), 20), (settings_of(limits=(1, 8)), 8)):
        decided = guard(made.built_guards, hold(twenty, "held"), twenty, {}, 0.0)
        assert decided.decision.target == target


def test_an_unknown_placement_is_rejected_in_one_line():
    with pytest.raises(BadInput, match="placement must be one of auto, force, off, but it is 'on'"):
        settings_of(placement="on")


def test_a_negative_standby_is_rejected_in_one_line():
    with pytest.raises(BadInput, match="standby must be at least 0 executors, but it is -1"):
        settings_of(standby=-1)
    assert settings_of(standby=2).state.standby == 2


def test_call_arguments_override_sparks_configuration(tmp_path, caplog):
    configuration = {
        "spark.rheostat.slo": "25",
        "spark.rheostat.loop.interval_s": "0.002",
        "spark.rheostat.journal": str(tmp_path / "theirs"),
    }
    remote = RemoteSession(**configuration)
    with caplog.at_level(logging.INFO, logger="rheostat"):
        handle = rheostat.attach(remote, journal=tmp_path / "ours")
    remote.is_stopped = True
    handle.stop()
    assert "objective 25 s, a decision every 0.002 s" in caplog.messages[0]
    assert "rheostat halt" not in caplog.messages[1]  # a client does not read checkpoints
    assert handle.journal == tmp_path / "ours"


def test_invalid_settings_in_sparks_configuration_are_rejected_before_any_change():
    remote = RemoteSession(**{"spark.rheostat.slow": "25"})
    with pytest.raises(BadInput, match=r"slow is not a setting of Rheostat; did you mean .*slo"):
        rheostat.attach(remote)
