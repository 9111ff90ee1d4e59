"""A decision does not recompute what has not changed since the last one."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rheostat.model import Memory, Observation
from rheostat.policies.predictive.learning import updated
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.predictive.situation import situation
from rheostat.policies.predictive.state import State
from rheostat.signals.forecasts.rate_history import Rates
from rheostat.tuning import TUNING

STEADY = replace(Predictive.about.steady, slots_per_executor=1, latency_s=1.0)


def with_history(rates: list[float], every_s: float) -> tuple[Observation, Memory]:
    """Return the last of several observations with different batches, and the memory before it."""
    policy = Predictive()
    memory: Memory = {}
    before, now = memory, STEADY
    for n, rate in enumerate(rates):
        now = replace(STEADY, t_s=n * every_s, input_rows_per_s=rate, batch_rows=3000 + n)
        before = memory
        _, memory = policy.decide(now, before)
    return now, before


histories = st.lists(st.floats(10, 1e5), min_size=12, max_size=40)


@given(histories, st.sampled_from([1.0, 3.0, 5.0]))
def test_the_cached_history_gives_the_same_forecast_as_a_recomputed_one(
    rates: list[float], every_s: float
) -> None:
    now, memory = with_history(rates, every_s)
    state, kept = updated(now, State.from_json(memory), 10.0)
    assert kept is not None
    model = state.batches.identified()
    assert model is not None
    anew = Rates(state.rates, state.period_s)
    situations = [
        situation(
            now, state, model, rates, slo_s=10.0, rescale_cost=30.0, margin=0.5, tuning=TUNING
        )
        for rates in (kept, anew)
    ]
    assert situations[0].forecast == situations[1].forecast
    assert situations[0].sizes == situations[1].sizes


def test_horizons_are_recomputed_only_after_a_new_mean() -> None:
    now, memory = with_history([1000.0 + n % 7 for n in range(200)], 1.0)
    state, read = State.from_json(memory), 0
    for n in range(1, 16):
        after, _ = updated(replace(now, t_s=now.t_s + n), state, 10.0)
        read += after.turn != state.turn
        state = after
    assert read == 3  # means over five seconds, observations every second
