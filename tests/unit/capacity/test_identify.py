"""A batch model fitted to batches equals the one that generated them."""

import math
from dataclasses import replace

import pytest

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.capacity.identify import EMPTY, Batches, ContentionFit, fitted_line, with_sample
from rheostat.model import Stage

TRUE = BatchModel(
    0.4,
    (
        StageCost(tasks=24, row_s=1e-4, task_s=0.015),
        StageCost(tasks=24, row_s=2e-4, task_s=0.03),
    ),
)
BATCHES = [(1000, 2), (20_000, 4), (60_000, 8), (5000, 3), (90_000, 8), (40_000, 6)]


def stages(rows: float, slower: float = 1.0) -> list[Stage]:
    result = []
    for place, cost in enumerate(TRUE.stages):
        busy_s = cost.tasks * cost.task_s + rows * cost.row_s * slower
        above = (str(place - 1) if place else "a source",)
        result.append(
            Stage(name=str(place), upstream=above, busy_s=busy_s, tasks=24, task_max_s=busy_s / 24)
        )
    return result


def learned_batches(staged: bool) -> Batches:
    known = Batches()
    for rows, slots in BATCHES * 6:
        reported = stages(rows) if staged else None
        known = known.with_batch(TRUE.batch_s(rows, slots), rows, slots, reported)
    return known


def test_stages_predict_batch_times_for_unseen_sizes() -> None:
    fitted = learned_batches(True).identified()
    assert fitted is not None
    for rows, slots in ((30_000, 5), (90_000, 12), (2000, 1)):
        assert fitted.model.batch_s(rows, slots) == pytest.approx(
            TRUE.batch_s(rows, slots), rel=0.05
        )
    assert fitted.error is not None
    assert fitted.error < 0.05


def test_the_error_is_absent_before_five_predictions() -> None:
    known = Batches()
    for count in range(1, 8):
        known = known.with_batch(2.0, 9000, 4, None)
        fitted = known.identified()
        assert fitted is not None
        assert (fitted.error is None) == (count <= 5)


def test_batch_times_alone_give_a_near_estimate() -> None:
    fitted = learned_batches(False).identified()
    assert fitted is not None
    assert fitted.model.batch_s(90_000, 6) == pytest.approx(TRUE.batch_s(90_000, 6), rel=0.2)


def test_no_model_exists_before_the_first_batch() -> None:
    assert Batches().identified() is None


def test_one_x_gives_a_pure_slope_and_two_give_the_exact_line() -> None:
    one = with_sample(EMPTY, 10.0, 5.0, 0.02)
    assert fitted_line(one) == (0.0, 0.5)
    two = one
    for _ in range(200):
        two = with_sample(with_sample(two, 10.0, 7.0, 0.0), 100.0, 52.0, 0.0)
    intercept, slope = fitted_line(two)
    assert intercept == pytest.approx(2.0, abs=0.1)
    assert slope == pytest.approx(0.5, rel=0.02)


def test_contention_is_learned_from_consecutive_sizes() -> None:
    known = ContentionFit()
    for slots in (2, 4, 8, 4, 2, 8) * 4:
        for _ in range(4):
            known = known.with_slots(slots).with_work(slots, 0.3 * math.log(slots))
    curve = known.curve()
    assert curve.exponent == pytest.approx(0.3, abs=0.05)
    assert curve.slowdown(100) == curve.slowdown(12)


def test_drifting_work_is_not_contention() -> None:
    known = ContentionFit()
    for place in range(400):
        known = known.with_slots(8).with_work(8, 0.01 * place)
    assert known.curve().exponent == 0.0


def test_rows_that_are_not_of_a_source_do_not_affect_the_row_cost() -> None:
    """Such as those of the log of a table format, which grows while the load falls."""
    known = Batches()
    for number, (rows, slots) in enumerate(BATCHES * 6):
        log = Stage(name="log", rows_in=50_000.0 - 1000 * number, busy_s=0.5, tasks=8)
        read = [replace(stage, rows_in=float(rows)) for stage in stages(rows)]
        known = known.with_batch(TRUE.batch_s(rows, slots) + 0.5 / slots, rows, slots, [log, *read])
    fitted = known.identified()
    assert fitted is not None
    for rows, slots in ((30_000, 5), (90_000, 12)):
        assert fitted.model.batch_s(rows, slots) == pytest.approx(
            TRUE.batch_s(rows, slots) + 0.5 / slots, rel=0.1
        )


AMBIGUOUS = [
    Stage(name="0", rows_in=9000.0, busy_s=9.0, tasks=8),
    Stage(name="other", rows_in=10.0, busy_s=9.0, tasks=8),
]


def test_stages_whose_source_is_unknown_teach_nothing() -> None:
    known = learned_batches(True)
    after = known.with_batch(TRUE.batch_s(9000, 4), 9000, 4, AMBIGUOUS)
    assert after.stages == known.stages


def test_batch_times_are_fitted_until_sources_are_known() -> None:
    known = Batches()
    for rows, slots in BATCHES * 6:
        known = known.with_batch(TRUE.batch_s(rows, slots), rows, slots, AMBIGUOUS)
    assert known == learned_batches(False)
    after = known.with_batch(TRUE.batch_s(9000, 4), 9000, 4, stages(9000))
    assert after.stages.keys() == {"0", "1"}


def test_an_empty_first_batch_with_one_task_adds_no_skew() -> None:
    one = Stage(name="0", tasks=1, busy_s=0.003, task_max_s=0.167)
    known = Batches().with_batch(0.2, 1.0, 1, [one]).identified()
    assert known is not None
    sixteen = Stage(name="0", tasks=16, busy_s=1.6, task_max_s=0.1)
    first = Batches().with_batch(0.2, 1.0, 1, [one])
    after = first.with_batch(1.7, 400.0, 1, [sixteen]).identified()
    assert after is not None
    assert known.model.stages[0].skew == after.model.stages[0].skew == pytest.approx(1.0)


def test_stages_of_an_empty_batch_do_not_affect_the_row_cost() -> None:
    empty = Stage(name="0", tasks=1, busy_s=0.003, task_max_s=0.05, rows_in=0.0)
    first = Batches().with_batch(1.8, 367.0, 1, [empty])
    assert first.identified() is None
    real = Stage(name="0", tasks=16, busy_s=1.6, task_max_s=0.15, rows_in=370.0)
    known = first.with_batch(1.8, 375.0, 1, [real]).identified()
    assert known is not None
    assert known.model.batch_s(370.0, 1) == pytest.approx(1.8, rel=0.1)


def test_stages_of_an_earlier_batch_are_paired_with_the_rows_they_read() -> None:
    """The stages of a live job are read every ten seconds, but its batches are shorter."""
    known = Batches()
    for rows, slots in BATCHES * 6:
        read = [replace(stage, rows_in=5000.0) for stage in stages(5000.0)]
        is_first = known.staged is None
        known = known.with_batch(TRUE.batch_s(rows, slots), rows, slots, read, is_first)
    fitted = known.identified()
    assert fitted is not None
    assert fitted.model.batch_s(60_000, 6) == pytest.approx(TRUE.batch_s(60_000, 6), rel=0.3)


def test_a_learned_bias_is_not_applied_again_with_the_next_stages() -> None:
    """A job is read once at night, with cold tasks, and once in the morning: in between, the bias
    reduces the cost of rows, and the line through both readings must not reduce it again.
    """
    slots, row_s, task_s, tasks = 4, 0.002, 0.05, 16

    def busy_s(rows: float) -> float:
        return tasks * task_s + rows * row_s

    def read(rows: float, cold: float = 1.0) -> list[Stage]:
        return [Stage(name="0", rows_in=rows, busy_s=cold * busy_s(rows), tasks=tasks)]

    learned = Batches()
    at_night = read(200.0, cold=1.3)
    for n in range(12):
        rows = 200.0 + 60.0 * n
        batch_s = 0.3 + busy_s(rows) / slots
        learned = learned.with_batch(batch_s, rows, slots, at_night, fresh=n == 0)
    learned = learned.with_batch(0.3 + busy_s(920.0) / slots, 920.0, slots, read(920.0))
    known = learned.identified()
    assert known is not None
    line_row_s = (busy_s(920.0) - 1.3 * busy_s(200.0)) / 720
    assert known.model.stages[0].row_s > 0.9 * line_row_s
