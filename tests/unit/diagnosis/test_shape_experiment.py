from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.diagnosis import shape_experiment
from rheostat.diagnosis.shape_experiment import (
    _settings,
    _wait,
    advised,
    files_variant,
    gain,
    measure,
    variants,
)
from rheostat.errors import RheostatError
from rheostat.local.fast_local_files import CLASS, SETTING


class Session:
    def __init__(self, conf: dict[str, str]) -> None:
        self.conf = conf


def test_the_gain_of_a_setting_is_the_difference_of_the_medians():
    result = gain("s", [[2.0, 2.0, 9.0]], [[1.0, 1.0, 1.0]])
    assert (result.without_s, result.with_s, result.gain_s, result.n) == (2.0, 1.0, 1.0, 3)
    assert result.low_s <= result.gain_s <= result.high_s


def test_identical_batches_give_no_gain():
    result = gain("s", [[1.0] * 6], [[1.0] * 6])
    assert (result.gain_s, result.low_s, result.high_s) == (0.0, 0.0, 0.0)


@settings(max_examples=15)
@given(
    st.lists(st.floats(0.01, 100), min_size=3, max_size=12),
    st.lists(st.floats(0.01, 100), min_size=3, max_size=12),
)
def test_the_interval_is_deterministic_and_ordered(without, with_it):
    first, second = gain("s", [without], [with_it]), gain("s", [without], [with_it])
    assert first == second
    assert first.low_s <= first.high_s


def test_every_variant_differs_from_the_advice_in_one_setting():
    for version in ("3.5.7", "4.3.0"):
        for change in variants(version).values():
            assert [advised(version)[name] != value for name, value in change.items()] == [True]


def test_file_operations_are_measured_only_if_the_session_has_the_setting():
    assert files_variant(Session({})) == {}
    [change] = files_variant(Session({SETTING: CLASS})).values()
    assert change["fs.file.impl"] != CLASS


class Conf(dict[str, str]):
    """A session's settings, in which unset ones are absent."""

    def set(self, name: str, value: str) -> None:
        self[name] = value

    def unset(self, name: str) -> None:
        self.pop(name, None)


class Live:
    """A session whose settings can be changed."""

    version = "4.0.1"

    def __init__(self, **conf: str) -> None:
        self.conf = Conf(conf)


names = st.sampled_from(["a", "b", "c"])


@settings(max_examples=20)
@given(st.dictionaries(names, st.text()), st.dictionaries(names, st.text()), st.booleans())
def test_session_settings_are_restored_even_after_an_error(
    before: dict[str, str], wanted: dict[str, str], fails: bool
) -> None:
    spark = Live(**before)

    def within() -> None:
        with _settings(spark, wanted):
            assert spark.conf == {**before, **wanted}
            if fails:
                raise KeyError

    if fails:
        with pytest.raises(KeyError):
            within()
    else:
        within()
    assert spark.conf == before


@dataclass
class Running:
    """A query that reports one more batch at each read, up to ``most``."""

    most: int
    ends: bool = False
    error: str | None = None
    reads: int = field(default=0)

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        return not (self.ends and self.reads >= self.most)

    @property
    def recentProgress(self) -> list[dict[str, Any]]:  # noqa: N802 - Spark's name
        self.reads += 1
        return [
            {"durationMs": {"triggerExecution": 1000 * n}}
            for n in range(1, min(self.reads, self.most) + 1)
        ]

    def exception(self) -> str | None:
        return self.error


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock that only sleep advances."""

    class Clock:
        now_s = 0.0

        def monotonic(self) -> float:
            return self.now_s

        def sleep(self, seconds: float) -> None:
            self.now_s += seconds

    made = Clock()
    monkeypatch.setattr(shape_experiment, "time", made)
    return made


def test_the_batches_that_create_the_state_are_excluded(clock: Any) -> None:
    assert _wait(Running(most=100)) == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


def test_slow_batches_are_accepted_after_a_minute(clock: Any) -> None:
    assert _wait(Running(most=5)) == [4.0, 5.0]
    assert 60 <= clock.now_s <= 61


def test_a_query_without_measurable_batches_ends_in_an_error(clock: Any) -> None:
    with pytest.raises(RheostatError, match="ran fewer than 4 batches: no executor or no time"):
        _wait(Running(most=3))
    assert 180 <= clock.now_s <= 181


def test_a_failed_query_is_reported_in_one_line_with_its_cause(clock: Any) -> None:
    failed = Running(most=2, ends=True, error="[STREAM_FAILED] no room\n at line 1\n at line 2")
    with pytest.raises(RheostatError) as raised:
        _wait(failed)
    assert str(raised.value) == "the query ran fewer than 4 batches: [STREAM_FAILED] no room"


def test_every_setting_is_measured_alternately_with_the_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[dict[str, str]] = []

    def batches_s(spark: Any, settings: dict[str, str]) -> list[float]:
        runs.append(dict(settings))
        return [1.0 if settings == advised(Live.version) else 3.0] * 6

    monkeypatch.setattr(shape_experiment, "_batches_s", batches_s)
    error: list[str] = []
    results = measure(Live(), error.append, repetitions=2)
    best, changes = advised(Live.version), list(variants(Live.version).values())
    # The first run warms the session and is not counted.
    assert runs == [best] + [
        {**best, **c} if n % 2 == 0 else best for c in changes for n in range(4)
    ]
    assert [result.setting for result in results] == list(variants(Live.version))
    assert {(result.gain_s, result.n) for result in results} == {(2.0, 12)}
    assert error[0].endswith("(1 of 2)")
    assert len(error) == 2 * len(changes)
