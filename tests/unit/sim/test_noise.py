"""Random factors have mean 1, one stream for any block size, and independent streams."""

import numpy as np
import pytest

from rheostat.sim.noise import Noise, streams


def test_factors_have_mean_1_and_the_configured_spread() -> None:
    drawn = np.array(Noise(np.random.default_rng(1), 0.5).take(200_000))
    assert drawn.mean() == pytest.approx(1.0, abs=0.01)
    assert np.log(drawn).std() == pytest.approx(0.5, rel=0.01)


def test_a_stream_does_not_depend_on_the_block_size() -> None:
    pieces, at_once = Noise(np.random.default_rng(1), 0.5), Noise(np.random.default_rng(1), 0.5)
    assert [factor for _ in range(10) for factor in pieces.take(999)] == at_once.take(9_990)


def test_without_spread_every_factor_is_1() -> None:
    assert Noise(np.random.default_rng(1), 0.0).take(3) == [1.0, 1.0, 1.0]


def test_streams_of_one_seed_are_independent_and_reproducible() -> None:
    one, other = streams(4, 2)
    assert one.random(5).tolist() != other.random(5).tolist()
    assert streams(4, 1)[0].random() == streams(4, 3)[0].random()
