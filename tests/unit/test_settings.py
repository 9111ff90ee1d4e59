"""``spark.rheostat.*`` in Spark's configuration: texts become arguments."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

import rheostat
from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput
from rheostat.model import Limits
from rheostat.settings import PREFIX, conf_arguments, conf_settings, merge, settings_of
from rheostat.spark.warming import warm_start


def conf(**settings: str) -> dict[str, str]:
    named = {name.replace("__", "."): text for name, text in settings.items()}
    return {"spark.executor.cores": "2", **{f"{PREFIX}{name}": named[name] for name in named}}


def test_every_argument_and_group_field_is_a_setting() -> None:
    arguments = {
        name
        for name, parameter in inspect.signature(rheostat.attach).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    settings = {key.argument for key in conf_settings()}
    # These are parts of ServeOptions, which a call passes as one argument.
    assert settings - arguments == {"serve_certificate", "serve_hosts", "serve_key"}
    assert arguments <= settings
    assert all(key.help for key in conf_settings())
    guards = {key.part: key.name for key in conf_settings() if key.argument == "guards"}
    assert guards.keys() == {field.name for field in dataclasses.fields(GuardOptions)}
    assert guards["step_out"] == "guards.step_out"
    assert guards["floor"] == "floor"


def test_a_schedule_is_a_separate_setting() -> None:
    floor, ceiling = "Mon-Fri 08:00-10:00 Europe/Budapest = 4; 2026-12-24 = 6", "22:00-06:00 = 2"
    given = conf_arguments(conf(floor=floor, guards__step_in="1"))
    assert given == {"guards": GuardOptions(floor=floor, step_in=1)}
    with pytest.raises(BadInput, match=r"spark\.rheostat\.floor: the period 'Mon 8'"):
        conf_arguments(conf(floor="Mon 8 = 4"))
    with pytest.raises(BadInput, match="above the ceiling"):
        merge(None, conf(floor="23:00-24:00 = 3", ceiling=ceiling))


def test_without_settings_there_are_no_arguments() -> None:
    assert conf_arguments({"spark.executor.cores": "2"}) == {}


def test_internal_settings_of_rheostat_are_not_user_settings() -> None:
    assert conf_arguments({warm_start.SETTING: "/somewhere"}) == {}


def test_texts_are_converted_to_call_arguments() -> None:
    arguments = conf_arguments(
        conf(
            policy="pid",
            policy__kp="0.5",
            slo="20",
            limits__min="2",
            limits__max="12",
            kafka="broker:9092",
            kafka__security__protocol="SSL",
            journal="there",
            loop__interval_s="2.5",
            guards__undo="TRUE",
            guards__step_out="3",
            retention__journal_days="7",
            placement="off",
            standby="1",
            free_nodes="false",
        )
    )
    assert arguments == {
        "policy": "pid",
        "parameters": {"kp": "0.5"},
        "slo": "20",
        "limits": (2, 12),
        "kafka": {"bootstrap.servers": "broker:9092", "security.protocol": "SSL"},
        "journal": "there",
        "loop": LoopOptions(interval_s=2.5),
        "guards": GuardOptions(undo=True, step_out=3),
        "retention": rheostat.JournalOptions(journal_days=7.0),
        "placement": "off",
        "standby": 1,
        "free_nodes": False,
    }
    assert settings_of(**arguments).limits_given


def test_a_floor_above_the_default_ceiling_raises_it() -> None:
    assert conf_arguments(conf(limits__min="10")) == {"limits": (10, 10)}


@pytest.mark.parametrize(
    "settings",
    [
        lambda: settings_of(limits=(0, 6)),
        lambda: merge(None, conf(limits__min="0", limits__max="6")),
        lambda: merge(None, conf(limits__max="6"), None, {"limits": {"min": 0}}),
        lambda: merge(None, conf(limits__min="0"), None, {"limits": {"max": 6}}),
    ],
)
def test_a_minimum_of_0_keeps_one_executor_during_a_run(settings: Any) -> None:
    merged = settings()
    assert (merged.releases, merged.limits) == (True, Limits.between(1, 6))
    assert "0 to 6 executors" in merged.summary
    assert not settings_of(limits=(1, 6)).releases


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((0, 0), "max executors must be at least 1, but it is 0"),
        ((False, 8), "min executors must be a whole number, but it is False"),
        ((0.0, 8), "min executors must be a whole number, but it is 0.0"),
        ((-1, 8), "min executors must be at least 1, but it is -1"),
    ],
)
def test_other_minima_below_1_are_refused(limits: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        settings_of(limits=limits)


def test_all_errors_are_reported_at_once_in_separate_lines() -> None:
    with pytest.raises(BadInput) as refused:
        conf_arguments(
            conf(
                guards__stepOut="2",
                guards__step_in="-2",
                loop__interval_s="0",
                slo="ten",
                free_nodes="maybe",
                placement="on",
                polcy="fixed",
                policy="fixed",
                policy__executors="x",
                limits__min="4",
                limits__max="2",
            )
        )
    lines = str(refused.value).splitlines()
    assert len(lines) == 9
    text = "\n".join(lines)
    for expected in (
        "guards.stepOut is not a setting of Rheostat; did you mean spark.rheostat.guards.step_out?",
        "polcy is not a setting of Rheostat; did you mean spark.rheostat.policy?",
        "guards.step_in: step limit in_ must be at least 1 executor, but it is -2",
        "slo: the latency objective must be seconds, such as 10, or seconds by query, such as"
        " orders=10,audit=60, but it is 'ten'",
        "free_nodes must be true or false, but it is 'maybe'",
        "placement: placement must be one of auto, force, off, but it is 'on'",
        "limits: min executors (4) is above max executors (2)",
        "policy: executors of policy fixed must be of type int, but it is 'x'",
    ):
        assert expected in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy": "no-such"}, "policy: unknown policy 'no-such'; there are "),
        (
            {"policy": "predictive", "policy__usable": "0.9"},
            "^spark.rheostat.policy: policy predictive has no parameter 'usable'; it has slo, .*$",
        ),
        ({"policy__factor": "2"}, "policy.factor is a parameter of a policy, but spark.rheos"),
        ({"nothing_like_it_at_all": "1"}, "nothing_like_it_at_all is not a setting of Rheostat$"),
        ({"kafka__security__protocol": "SSL"}, "kafka: kafka= needs 'bootstrap.servers'"),
        ({"policy__": "SSL"}, "policy. is not a setting"),
    ],
)
def test_invalid_settings_are_rejected(settings: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        conf_arguments(conf(**settings))


def test_call_arguments_take_precedence_and_a_policy_replaces_its_parameters() -> None:
    given = conf(policy="pid", policy__kp="1", slo="5")
    assert merge(conf=given, arguments={"policy": "fixed"}) == settings_of(policy="fixed", slo=5)
    assert merge(conf=given, arguments={"slo": 7, "policy": None}) == settings_of(
        policy="pid", parameters={"kp": "1"}, slo=7
    )


def test_defaults_of_an_application_kind_yield_to_the_configuration() -> None:
    usual = {"policy": "spark-batch-ratio"}
    assert merge(usual).policy == "spark-batch-ratio"
    assert merge(usual, conf(policy="pid")).policy == "pid"


def test_every_default_as_text_equals_its_absence() -> None:
    usual = {
        key.name: key.default for key in conf_settings() if not key.family and key.default != ""
    }
    texts = {f"{PREFIX}{name}": str(default).lower() for name, default in usual.items()}
    assert settings_of(**conf_arguments(texts)) == dataclasses.replace(
        settings_of(), limits_given=True
    )
