# mypy: disallow-untyped-calls=False
"""Invariants of the metrics over any sequence of records."""

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from rheostat.journal.starts import Start
from rheostat.metrics.catalog import FAMILIES
from rheostat.metrics.record_metrics import RecordMetrics
from rheostat.model import Decision, Observation, Record, Rescaling

START = Start(
    t_s=0.0,
    mode="live",
    policy="fixed",
    slo_s=10.0,
    min_executors=1,
    max_executors=8,
    interval_s=5.0,
)
sizes = st.none() | st.integers(1, 8)
rates = st.none() | st.floats(0, 1e6)


RISING = (5.0, 5.0, 7.0, 90.0)


@st.composite
def histories(draw, steps=(*RISING, -3600.0, 0.0)):
    """Draw records with clock steps (in both directions unless ``steps`` rise), absent signals and
    failures.
    """
    t_s, records = 1e9, []
    for _ in range(draw(st.integers(1, 12))):
        t_s += draw(st.sampled_from(steps))
        observation = Observation(
            t_s=t_s,
            executors=draw(sizes),
            target=draw(sizes),
            slots_per_executor=2,
            input_rows_per_s=draw(rates),
            latency_s=draw(st.none() | st.floats(0, 100)),
            batch_s=draw(st.none() | st.floats(0, 100)),
            broker_up=draw(st.none() | st.booleans()),
        )
        target = draw(sizes)
        evidence = {"forecast_s": draw(st.floats(0, 30)), "forecast_rows_per_s_p50": draw(rates)}
        phase = draw(st.sampled_from(["steady", "growing", "blocked", "advised", "failed"]))
        records.append(
            Record(
                t_s=t_s,
                observation=draw(st.sampled_from([observation, None])),
                queries=(),
                raw=Decision(target=target, reason="r", evidence=evidence) if target else None,
                guards=(),
                target=target,
                actions=(),
                rescaling=Rescaling(phase=phase, detail="OSError: it failed"),
            )
        )
    return records


def counters(records, metrics):
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for record in records:
        for sample in metrics.samples(record, START):
            if FAMILIES[sample.name].kind == "counter":
                assert sample.value >= 0
                key = (sample.name, *sample.labels.values())
                sums[key] += sample.value
    return sums


@given(histories())
def test_counters_never_decrease_and_every_tick_is_one_decision(records):
    sums = counters(records, RecordMetrics())
    decisions = sum(value for (name, *_), value in sums.items() if "decisions" in name)
    assert decisions == len(records)


@given(histories(RISING), st.integers(0, 12))
def test_a_restart_counts_nothing_twice(records, cut):
    """Prometheus adds the counters of both processes: the sum never exceeds that of one process,
    except for a batch or an outage that both observe. A clock that is set back reduces counts.
    """
    complete = counters(records, RecordMetrics())
    parts = [counters(part, RecordMetrics()) for part in (records[:cut], records[cut:])]
    for key in {*parts[0], *parts[1]}:
        summed = parts[0][key] + parts[1][key]
        allowed = 1 if key[0] in ("rheostat_failures_total", "rheostat_rescales_total") else 0
        assert summed <= complete[key] * (1 + 1e-9) + allowed, key


@given(histories())
def test_every_value_is_finite_and_has_the_labels_of_its_family(records):
    metrics = RecordMetrics()
    for record in records:
        for sample in metrics.samples(record, START):
            assert sample.value == sample.value
            assert abs(sample.value) != float("inf")
            family = FAMILIES[sample.name]
            assert set(sample.labels) == {"application", *family.labels}
