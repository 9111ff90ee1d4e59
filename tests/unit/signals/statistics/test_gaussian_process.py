import pytest

from rheostat.policies.rates.conttune import posterior_mean


def test_one_measurement_gives_a_line_through_the_origin():
    assert posterior_mean([4], [4000.0], [1, 4, 8], 4.37, 0.02) == pytest.approx(
        [1000.0, 4000.0, 8000.0]
    )


def test_the_curve_interpolates_measurements_and_returns_to_the_line():
    curve = posterior_mean([2, 8], [2000.0, 5000.0], [2, 8, 100], 3.0, 1e-3)
    slope = (2 * 2000 + 8 * 5000) / (4 + 64)
    assert curve == pytest.approx([2000.0, 5000.0, 100 * slope], rel=1e-3)


def test_noise_pulls_the_curve_toward_the_line():
    exact, noisy = (
        posterior_mean([2, 8], [2000.0, 5000.0], [2], 3.0, noise)[0] for noise in (1e-3, 0.5)
    )
    assert noisy < exact


def test_a_curve_of_zeros_is_flat():
    assert posterior_mean([2, 3], [0.0, 0.0], [1, 5], 3.0, 0.02) == [0.0, 0.0]
