import pytest

from rheostat.signals.statistics.running_line import Line, trend


def line(*points: tuple[float, float]) -> Line:
    result = Line()
    for x, y in points:
        result = Line.of(result.with_point(x, y).plain())
    return result


def test_points_on_a_line_give_the_line():
    fitted = line((0.2, 300.0), (0.5, 600.0), (0.9, 1000.0))
    assert [fitted.at(1.0), fitted.at(0.0)] == pytest.approx([1100.0, 100.0])


def test_points_off_a_line_give_the_least_squares_line():
    fitted = line((0.0, 0.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0))  # slope 0.8, intercept 0.3
    assert fitted.at(4.0) == pytest.approx(3.5)


def test_a_single_x_gives_a_proportional_line():
    assert line((0.5, 500.0), (0.5, 500.0)).at(1.0) == pytest.approx(1000.0)
    assert line((0.0, 0.0)).at(1.0) == 0.0


def test_a_trend_is_extrapolated_but_never_below_zero():
    rising = [(10.0 * n, 100.0 + 20.0 * n) for n in range(5)]
    assert trend(rising, 30.0, 10.0) == pytest.approx([200.0, 220.0, 240.0])
    falling = [(10.0 * n, 100.0 - 30.0 * n) for n in range(3)]
    assert trend(falling, 30.0, 10.0) == pytest.approx([10.0, 0.0, 0.0])
    assert trend([(5.0, 70.0)], 20.0, 10.0) == [70.0, 70.0]
