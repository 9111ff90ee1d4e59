"""The batch model predicts the next batch in journals of a job whose batches follow a law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from rheostat.model import Decision, Memory, Observation, Record, Rescaling
from rheostat.policies.predictive.policy import Predictive
from rheostat_lab.matrix.batch_prediction import prediction, size, together

TICK_S = 3.0


def journal_of(
    rates: Sequence[float], executors: Sequence[int], dearer: float = 1.0
) -> list[Record]:
    """Return a journal with a batch of a second's rows per observation, which takes 0.1 s plus 2 ms
    per row and slot; the last one takes ``dearer`` times as long.
    """
    records = []
    memory: Memory = {}
    for number, (rate, size_) in enumerate(zip(rates, executors, strict=True)):
        times = dearer if number == len(rates) - 1 else 1.0
        observation = Observation(
            t_s=1000.0 + TICK_S * number,
            executors=size_,
            target=size_,
            slots_per_executor=2,
            trigger_s=1.0,
            input_rows_per_s=rate,
            batch_rows=int(rate),
            batch_s=times * (0.1 + 0.002 * rate / (2 * size_)),
            lag_rows=int(rate),
            lag_s=1.0,
        )
        decision, memory = Predictive().decide(observation, memory)
        records.append(
            Record(
                t_s=observation.t_s,
                observation=observation,
                queries=(),
                raw=decision,
                guards=(),
                target=size_,
                actions=(),
                rescaling=Rescaling(phase="steady", detail=""),
            )
        )
    return records


RATES = [300.0 + 20 * number for number in range(20)]


def test_regular_batches_are_predicted() -> None:
    result = prediction(journal_of(RATES, [2] * 20), Predictive())
    assert len(result.errors) == 19  # the first has no model before it
    assert max(map(abs, result.errors[5:])) < 0.05
    assert result.unsettled == ()


def test_a_batch_of_twice_the_duration_has_an_error_of_log_2() -> None:
    result = prediction(journal_of(RATES, [2] * 20, dearer=2.0), Predictive())
    assert result.errors[-1] == pytest.approx(math.log(2), abs=0.05)
    assert result.repeated[-1] == pytest.approx(math.log(2), abs=0.1)


def test_a_repeated_batch_counts_once() -> None:
    assert len(prediction(journal_of([300.0] * 10, [2] * 10), Predictive()).errors) == 0
    assert len(prediction(journal_of([300.0, 400.0, 400.0], [2] * 3), Predictive()).errors) == 1


def test_a_batch_that_started_before_the_rescale_is_counted_separately() -> None:
    result = prediction(journal_of(RATES, [2] * 19 + [4]), Predictive())
    assert (len(result.errors), len(result.unsettled)) == (18, 1)


def test_replaying_decisions_matches_the_journal() -> None:
    records = journal_of(RATES, [2] * 20)
    result = prediction(records, Predictive())
    assert (result.same_decisions, result.looks) == (20, 20)
    other = replace(records[3], raw=Decision(target=9, reason="", evidence={}))
    assert prediction([*records[:3], other, *records[4:]], Predictive()).same_decisions == 19


def test_combined_days_contain_all_their_batches() -> None:
    one = prediction(journal_of(RATES, [2] * 20), Predictive())
    both = together([one, one])
    assert (len(both.errors), both.looks) == (38, 40)


def test_an_error_quantile_is_the_size_of_the_error() -> None:
    assert size([-0.3, 0.1, -0.2], 0.5) == pytest.approx(0.2)
    assert size([], 0.9) is None
