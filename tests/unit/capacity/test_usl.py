"""The Universal Scalability Law."""

import pytest

from rheostat.sim.spark.spark_capacity import Usl


def test_without_contention_the_slowdown_is_one() -> None:
    assert [Usl().slowdown(slots) for slots in (0.5, 1, 7)] == [1, 1, 1]


def test_contention_alone_is_amdahls_law() -> None:
    assert 1e9 / Usl(sigma=0.25).slowdown(1e9) == pytest.approx(4, rel=1e-6)


def test_with_coherency_throughput_has_a_peak() -> None:
    curve = Usl(sigma=0.04, kappa=0.0024)
    speed = {slots: slots / curve.slowdown(slots) for slots in (19, 20, 21)}
    assert speed[20] > max(speed[19], speed[21])
