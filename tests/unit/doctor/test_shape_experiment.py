from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rheostat.doctor.shape_experiment import advised, files_variant, gain, variants
from rheostat.local.local_files import CLASS, SETTING


class Session:
    def __init__(self, conf: dict[str, str]) -> None:
        self.conf = conf


def test_what_a_setting_brings_is_the_difference_of_the_medians():
    found = gain("s", [[2.0, 2.0, 9.0]], [[1.0, 1.0, 1.0]])
    assert (found.without_s, found.with_s, found.gain_s, found.n) == (2.0, 1.0, 1.0, 3)
    assert found.low_s <= found.gain_s <= found.high_s


def test_batches_that_are_all_alike_bring_nothing():
    found = gain("s", [[1.0] * 6], [[1.0] * 6])
    assert (found.gain_s, found.low_s, found.high_s) == (0.0, 0.0, 0.0)


@given(
    st.lists(st.floats(0.01, 100), min_size=3, max_size=12),
    st.lists(st.floats(0.01, 100), min_size=3, max_size=12),
)
def test_the_interval_is_the_same_each_time_and_in_order(without, with_it):
    first, second = gain("s", [without], [with_it]), gain("s", [without], [with_it])
    assert first == second
    assert first.low_s <= first.high_s


def test_each_variant_differs_from_the_advice_in_one_setting():
    for version in ("3.5.7", "4.3.0"):
        for change in variants(version).values():
            assert [advised(version)[name] != value for name, value in change.items()] == [True]


def test_cheap_files_are_measured_only_where_the_session_has_them():
    assert files_variant(Session({})) == {}
    [change] = files_variant(Session({SETTING: CLASS})).values()
    assert change["fs.file.impl"] != CLASS
