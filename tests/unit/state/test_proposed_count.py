import pytest

from rheostat.state.proposed_count import proposed_count


@pytest.mark.parametrize(
    ("partitions", "slots", "proposed"),
    [(4, 8, 8), (24, 32, 48), (5, 5, 5), (7, 50, 56), (9, 2, 9)],
)
def test_the_proposal_is_the_smallest_multiple_that_uses_every_slot(partitions, slots, proposed):
    assert proposed_count(partitions, slots) == proposed
