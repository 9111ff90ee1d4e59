"""The settings of an application for which the user has configured some already."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.clusters import scaling_settings as scaling
from rheostat.clusters.run_settings import Plan, executor_shape, own_executors, planned
from rheostat.clusters.scaling_settings import Given, Wanted
from rheostat.model import Limits

STANDALONE = "spark://a:1"
PATH = "spark.executor.extraClassPath"
_NUMBERS = st.integers(0, 40).map(str)
_SWITCHES = st.sampled_from(["true", "false", "TRUE"])
_TIMES = st.sampled_from(["1s", "60s", "1000000s", "nonsense"])
_USER = st.fixed_dictionaries(
    {},
    optional={
        scaling.CORES: _NUMBERS,
        scaling.CORES_MAX: _NUMBERS,
        scaling.INSTANCES: _NUMBERS,
        scaling.ENABLED: _SWITCHES,
        scaling.LEAST: _NUMBERS,
        scaling.MOST: _NUMBERS | st.just("infinity"),
        scaling.INITIAL: _NUMBERS,
        scaling.TRACKING: _SWITCHES,
        scaling.MOVING[0]: _TIMES,
        scaling.MOVING[1]: _TIMES,
        scaling.LINGER: _NUMBERS,
        "spark.decommission.enabled": _SWITCHES,
        "spark.shuffle.service.enabled": _SWITCHES,
        PATH: st.text("ab:/", min_size=1),
    },
)
_LIMITS = st.tuples(st.integers(1, 20), st.integers(0, 20)).map(
    lambda pair: Limits.between(pair[0], pair[0] + pair[1])
)
_MASTERS = st.sampled_from([STANDALONE, "yarn", "k8s://a", "local[2]", "local-cluster[2,1,512]"])


def plan(user: dict[str, str], limits: Limits | None = None, master: str = STANDALONE) -> Plan:
    """Return the plan for settings that the user has made in a file."""
    origin = {name: Given(value, "a file") for name, value in user.items()}
    return planned(limits or Limits(), origin, master, {PATH: Wanted("/ours.jar", "", joins=":")})


@given(_USER, _LIMITS, _MASTERS)
def test_user_settings_are_never_changed(user: dict[str, str], limits: Limits, master: str) -> None:
    settings = plan(user, limits, master).settings
    assert set(settings) & set(user) <= {PATH}
    if PATH in user:
        assert settings[PATH] == f"/ours.jar:{user[PATH]}"


@given(_USER, _LIMITS, _MASTERS)
def test_limits_stay_within_the_request_and_the_users_capacity(
    user: dict[str, str], limits: Limits, master: str
) -> None:
    result = plan(user, limits, master)
    assert 1 <= result.limits.min_executors <= result.limits.max_executors <= limits.max_executors
    effective = user | result.settings
    if scaling.CORES_MAX in effective and master == STANDALONE:
        room = int(effective[scaling.CORES_MAX]) // max(1, int(effective[scaling.CORES]))
        assert result.limits.max_executors <= max(1, room)


@given(_USER, _LIMITS, _MASTERS)
def test_reduced_limits_are_reported_in_one_line(
    user: dict[str, str], limits: Limits, master: str
) -> None:
    result = plan(user, limits, master)
    assert (result.limits != limits) == any(" executors, not " in line for line in result.lines)
    assert not any("\n" in line for line in (*result.lines, *result.forbidden))


@given(_USER, _LIMITS, _MASTERS)
def test_spark_accepts_the_settings_that_it_would_accept_without_us(
    user: dict[str, str], limits: Limits, master: str
) -> None:
    """A floor above the ceiling ends the session (``ExecutorAllocationManager``)."""
    effective = user | plan(user, limits, master).settings
    if effective.get(scaling.ENABLED, "false").lower() != "true":
        return
    low = int(effective.get(scaling.LEAST, "0"))
    maximum = effective.get(scaling.MOST, "infinity")
    allowed = scaling.LEAST not in user or scaling.MOST not in user
    if maximum.isdecimal() and int(maximum) > 0 and allowed:
        assert low <= int(maximum)


@given(_USER, _LIMITS, _MASTERS)
def test_dynamic_allocation_resizes_only_where_the_user_allows_it(
    user: dict[str, str], limits: Limits, master: str
) -> None:
    settings = plan(user, limits, master).settings
    if scaling.ENABLED in settings:
        moving = {name: (user | settings)[name] for name in scaling.MOVING}
        assert set(moving.values()) <= {"1000000s", "nonsense"}


def test_the_ceiling_uses_the_users_cores_per_executor() -> None:
    assert plan({scaling.CORES: "4"}).settings[scaling.CORES_MAX] == "32"


def test_capacity_for_two_executors_is_reported_and_enforced() -> None:
    result = plan({scaling.CORES: "4", scaling.CORES_MAX: "8"})
    assert result.limits == Limits.between(1, 2)
    assert result.lines == (
        "spark.cores.max=8 (a file) has room for 2 executors of 4: 1 to 2 executors, not 1 to 8",
    )


def test_cores_max_limits_nothing_where_the_manager_ignores_it() -> None:
    result = plan({scaling.CORES_MAX: "2"}, master="yarn")
    assert result.limits == Limits()
    assert scaling.CORES not in result.settings


def test_no_scaling_settings_are_set_without_executors() -> None:
    assert list(plan({}, master="local[2]").settings) == [PATH]


def test_the_users_number_of_executors_is_the_initial_size() -> None:
    settings = plan({scaling.INSTANCES: "3"}).settings
    assert settings[scaling.INITIAL] == settings[scaling.LEAST] == "3"


@pytest.mark.parametrize(
    ("user", "needed", "executors"),
    [({}, 6, "6"), ({scaling.INSTANCES: "3"}, 2, "3"), ({}, 20, "8")],
)
def test_more_executors_than_configured_start_when_needed(
    user: dict[str, str], needed: int, executors: str
) -> None:
    origin = {name: Given(value, "a file") for name, value in user.items()}
    result = planned(Limits(), origin, STANDALONE, initial=needed)
    assert result.settings[scaling.INITIAL] == result.settings[scaling.LEAST] == executors
    assert result.initial == int(executors)


def test_an_initial_size_above_the_ceiling_is_reported() -> None:
    (line,) = plan({scaling.INSTANCES: "12"}).lines
    assert line.startswith("spark.executor.instances=12 (a file) is above the ceiling of 8")


@pytest.mark.parametrize(
    ("user", "message"),
    [
        (
            {scaling.ENABLED: "false"},
            "spark.dynamicAllocation.enabled=false (a file); the application starts with its"
            " maximum number of executors",
        ),
        (
            {scaling.MOVING[1]: "60s"},
            "spark.dynamicAllocation.executorIdleTimeout=60s (a file): dynamic allocation stays"
            " off; the application starts with its maximum number of executors",
        ),
        (
            {scaling.ENABLED: "true", scaling.MOVING[1]: "60s"},
            "spark.dynamicAllocation.executorIdleTimeout=60s (a file): Spark itself changes the"
            " size, Rheostat does not",
        ),
        (
            {scaling.TRACKING: "false"},
            "spark.dynamicAllocation.shuffleTracking.enabled=false (a file): dynamic allocation"
            " stays off; the application starts with its maximum number of executors",
        ),
        (
            {"spark.decommission.enabled": "false"},
            "spark.decommission.enabled=false (a file): executors leave only while idle between"
            " two batches",
        ),
    ],
)
def test_blocking_user_settings_are_reported_with_their_origin(
    user: dict[str, str], message: str
) -> None:
    assert message in plan(user).forbidden


def test_the_users_dynamic_allocation_is_disabled_and_reported() -> None:
    result = plan({scaling.ENABLED: "true"})
    assert result.settings[scaling.MOVING[1]] == scaling.NEVER
    assert "only Rheostat moves" in result.lines[0]


@pytest.mark.parametrize(
    ("user", "shape"),
    [
        ({}, (1, 1024)),
        ({scaling.CORES: "2", "spark.executor.memory": "3g"}, (2, 3072)),
        ({"spark.executor.memory": "512m"}, (1, 1024)),
        ({"spark.executor.memory": "2048"}, (1, 2048)),
        ({scaling.CORES: "two", "spark.executor.memory": "much"}, (1, 1024)),
    ],
)
def test_executors_have_the_cores_and_memory_of_the_user(
    user: dict[str, str], shape: tuple[int, int]
) -> None:
    assert executor_shape({name: Given(value, "") for name, value in user.items()}, 1024) == shape


@pytest.mark.parametrize(
    ("master", "given", "executors"),
    [
        ("spark://host:7077", {}, 8),
        ("spark://host:7077", {"spark.cores.max": "12"}, 12),
        ("spark://host:7077", {"spark.cores.max": "12", "spark.executor.cores": "4"}, 3),
        ("yarn", {}, 2),
        ("yarn", {"spark.executor.instances": "6"}, 6),
        ("k8s://https://host", {"spark.dynamicAllocation.enabled": "true"}, 8),
        (
            "yarn",
            {
                "spark.dynamicAllocation.enabled": "true",
                "spark.dynamicAllocation.maxExecutors": "20",
                "spark.executor.instances": "6",
            },
            20,
        ),
        ("local[4]", {}, None),
    ],
)
def test_the_size_without_rheostat_follows_from_the_spark_settings(
    master: str, given: dict[str, str], executors: int | None
) -> None:
    origins = {name: Given(value, "a file") for name, value in given.items()}
    assert own_executors(Limits.between(1, 8), origins, master) == executors
