import pytest

from rheostat.signals.statistics.windows import Columns, extended


def test_a_new_sample_drops_those_older_than_the_window():
    times, columns = extended([0.0, 10.0, 20.0], {"a": [[1.0, 2.0, 3.0]]}, 30.0, {"a": [4.0]}, 20.0)
    assert (times, columns) == ([10.0, 20.0, 30.0], {"a": [[2.0, 3.0, 4.0]]})


def test_a_new_name_starts_absent_and_a_removed_one_is_dropped():
    times, columns = extended([0.0, 10.0], {"a": [[1.0, 2.0]]}, 20.0, {"b": [None, 4.0]}, 60.0)
    assert (times, columns) == ([0.0, 10.0, 20.0], {"b": [[None, None, None], [None, None, 4.0]]})


@pytest.mark.parametrize(("now", "kept"), [(5.0, [0.0, 5.0]), (-100.0, [-100.0])])
def test_a_clock_set_back_drops_future_samples(now, kept):
    known: Columns = {"a": [[1.0, 2.0]]}
    times, columns = extended([0.0, 10.0], known, now, {"a": [9.0]}, 60.0)
    assert times == kept
    assert len(columns["a"][0]) == len(kept)
    assert known == {"a": [[1.0, 2.0]]}
