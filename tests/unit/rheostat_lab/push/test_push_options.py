from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat_lab.push.push_options import PushDemo


def test_the_load_rises_and_falls_once():
    demo = PushDemo(seconds=100.0)
    assert [demo.rate(t_s) for t_s in (0, 20, 35, 55, 65, 100)] == pytest.approx(
        [demo.low, demo.low, demo.peak, demo.peak, demo.low, demo.low]
    )


def test_the_default_load_is_described():
    assert "40 to 220 records/s over http for 4 minutes" in PushDemo().in_words()


def test_a_duration_that_is_too_short_is_rejected():
    with pytest.raises(BadInput, match="seconds must be between 60 and 3600"):
        PushDemo(seconds=10.0)
