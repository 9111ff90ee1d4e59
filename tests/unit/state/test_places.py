"""The places of state survive their short text form."""

from hypothesis import given
from hypothesis import strategies as st

from rheostat.state.places import holders_of, places_of

UNITS = st.tuples(st.sampled_from(["1f2e3d4c", "aaaaaaaa"]), st.integers(0, 30))


@given(st.dictionaries(UNITS, st.sampled_from(["1", "2", "10"])))
def test_places_survive_a_round_trip_as_text(holders):
    assert holders_of(places_of(holders)) == holders


def test_places_are_written_as_ranges():
    holders = {("1f2e3d4c-5b6a", number): "1" for number in range(200)}
    holders["1f2e3d4c-5b6a", 7] = "2"
    assert places_of(holders) == {"1f2e3d4c": {"1": "0-6,8-199", "2": "7"}}


def test_a_partition_without_a_known_holder_is_omitted():
    assert places_of({("q", 0): None, ("q", 1): "2"}) == {"q": {"2": "1"}}
