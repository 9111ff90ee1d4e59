import pytest

from rheostat.signals.statistics.running_line import Line, trend


def line(*points: tuple[float, float]) -> Line:
    found = Line()
    for x, y in points:
        found = Line.of(found.with_point(x, y).plain())
    return found


def test_points_on_a_line_give_the_line():
    found = line((0.2, 300.0), (0.5, 600.0), (0.9, 1000.0))
    assert [found.at(1.0), found.at(0.0)] == pytest.approx([1100.0, 100.0])


def test_points_beside_it_give_the_least_squares_line():
    found = line((0.0, 0.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0))  # slope 0.8, intercept 0.3
    assert found.at(4.0) == pytest.approx(3.5)


def test_one_x_alone_is_taken_for_proportion():
    assert line((0.5, 500.0), (0.5, 500.0)).at(1.0) == pytest.approx(1000.0)
    assert line((0.0, 0.0)).at(1.0) == 0.0


def test_a_trend_goes_on_and_never_below_zero():
    rising = [(10.0 * n, 100.0 + 20.0 * n) for n in range(5)]
    assert trend(rising, 30.0, 10.0) == pytest.approx([200.0, 220.0, 240.0])
    falling = [(10.0 * n, 100.0 - 30.0 * n) for n in range(3)]
    assert trend(falling, 30.0, 10.0) == pytest.approx([10.0, 0.0, 0.0])
    assert trend([(5.0, 70.0)], 20.0, 10.0) == [70.0, 70.0]
