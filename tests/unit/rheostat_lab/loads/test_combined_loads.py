from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat.sim.workload import Constant
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.due_rows import rows_until
from rheostat_lab.loads.espa import Espa
from rheostat_lab.loads.marks import marks
from rheostat_lab.loads.scaled import Scaled
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.sum import Sum
from rheostat_lab.loads.text import parse
from rheostat_lab.loads.trace import Trace


def test_a_sum_adds_rates_and_has_the_longest_duration() -> None:
    load = Sum((Steps((1, 2), hold_s=10), Trace((0, 10), (5, 7))))
    assert [load.rate_per_s(t) for t in (0, 10, 25)] == [6, 9, 2]
    assert load.duration_s == 20
    assert Sum((load, Constant(1))).duration_s is None


def test_scaling_multiplies_rate_and_speed() -> None:
    load = Scaled(Day(noise=0), factor=2, speed=4)
    assert load.duration_s == 60
    assert load.rate_per_s(15) == 2 * Day(noise=0).rate_per_s(60)
    assert marks(load) == {name: t / 4 for name, t in Day().marks.items()}
    assert rows_until(load, 60) == pytest.approx(rows_until(Day(noise=0), 240) / 2, rel=1e-3)


def test_a_sum_has_the_marks_of_its_parts() -> None:
    assert marks(Sum((Constant(1), Day()))) == Day().marks


def test_the_espa_cosine_is_the_thesis_load() -> None:
    assert [Espa(seed=3).rate_per_s(60 * i) for i in range(140)] == [
        Cosine(seed=3).rate_per_s(60 * i) for i in range(140)
    ]


def test_the_espa_profiles_have_their_shapes() -> None:
    rates = {
        name: [Espa(profile=name, query="3").rate_per_s(60 * i) for i in range(140)]
        for name in (
            "convergence",
            "cosine",
            "cosine-spikes",
            "decrease",
            "increase",
            "random-walk",
        )
    }
    assert rates["convergence"] == [0.0] * 20 + [37_500] * 40 + [75_000] * 40 + [37_500] * 40
    assert rates["increase"][0] == 2000
    assert rates["increase"][139] > 20_000
    assert rates["decrease"][0] == 75_000
    assert rates["decrease"][139] < 40_000
    spikes = {
        round(high - low) for high, low in zip(rates["cosine-spikes"], rates["cosine"], strict=True)
    } - {0}
    assert spikes
    assert all(12_500 <= height <= 25_000 for height in spikes)
    assert rates["random-walk"][0] == 50_000


def test_a_text_can_contain_sums_factors_and_lists() -> None:
    load = parse("cosine:shift=900,amplitude=0,noise=0 + 0.5 * steps:levels=10,20,hold_s=5")
    assert [load.rate_per_s(t) for t in (0, 5)] == [905, 910]
    assert parse("day") == Day()


def test_a_trace_is_loaded_by_the_given_reader() -> None:
    names: list[str] = []

    def read(name: str) -> Trace:
        names.append(name)
        return Trace((0, 1), (5, 6))

    assert parse("trace:file=mine.csv,rate_scale=2", read).rate_per_s(0) == 10
    assert names == ["mine.csv"]
    with pytest.raises(BadInput, match="a recorded load cannot be read here"):
        parse("trace:file=mine.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown workload ''"),
        ("night", "unknown workload 'night'"),
        ("day:5", "parameters are written name=value with commas between, but 'day:5' has '5'"),
        ("day:low=1,low=2", "low occurs twice in 'day:low=1,low=2'"),
        ("much * day", "before \\* there is a number, such as 0.5 \\* day, but here it is 'much'"),
        ("-1 * day", "factor must be a number above 0, but it is -1"),
        ("0 * day", "factor must be a number above 0, but it is 0"),
        (
            "espa:profile=flat",
            "profile of workload espa must be one of convergence, cosine, .*but it is 'flat'",
        ),
        ("espa:query=5", "query of workload espa must be one of 1, 3, 11, but it is '5'"),
        ("walk:start=-5", "start must be a number of at least 0, but it is -5"),
        (
            "walk:down=5,up=1",
            "the steps of a walk go from down to up, but down is 5.0 and up is 1.0",
        ),
        ("walk:ceiling=10", "start and steps of a walk must be within its ceiling of 10"),
        ("spikes:chance=2", "chance is a probability and must be between 0 and 1, but it is 2"),
        ("bursts:quiet=-1", "quiet must be a number of at least 0, but it is -1"),
        ("day + ", "unknown workload ''"),
    ],
)
def test_an_invalid_workload_text_is_rejected_with_its_part(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        parse(text)


def test_an_empty_sum_is_rejected() -> None:
    with pytest.raises(BadInput, match="a sum of workloads needs at least one"):
        Sum(())
