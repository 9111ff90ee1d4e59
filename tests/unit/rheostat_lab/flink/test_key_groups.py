"""Flink's functions return the same values as the Java originals."""

import pytest

from rheostat.errors import BadInput
from rheostat_lab.flink.key_groups import (
    default_max_parallelism,
    java_string_hash,
    key_group,
    key_group_range,
    murmur_hash,
    operator_index,
)

VECTORS = [
    (0, 593689054, 94, 94),
    (1, 68075478, 86, 198),
    (2, 1085422463, 127, 143),
    (3, 847579505, 113, 545),
    (42, 1134849565, 29, 685),
    (-1, 1982413648, 80, 208),
    (-(2**31), 1718298732, 108, 12),
    (2**31 - 1, 1653689534, 62, 14),
]
STRINGS = [
    ("a", 97, 1455541201, 81, 1),
    ("hello", 99162322, 1715862179, 35, 659),
    ("key001", -1134720142, 632209542, 6, 582),
]


@pytest.mark.parametrize(("number", "murmur", "of_128", "of_720"), VECTORS)
def test_a_number_hashes_as_in_java(number, murmur, of_128, of_720):
    assert (murmur_hash(number), key_group(number, 128), key_group(number, 720)) == (
        murmur,
        of_128,
        of_720,
    )


@pytest.mark.parametrize(("text", "code", "murmur", "of_128", "of_720"), STRINGS)
def test_a_string_hashes_as_in_java(text, code, murmur, of_128, of_720):
    assert java_string_hash(text) == code
    assert (murmur_hash(code), key_group(text, 128), key_group(text, 720)) == (
        murmur,
        of_128,
        of_720,
    )


def test_a_supplementary_character_hashes_as_two_code_units():
    assert java_string_hash("\U0001f600") == 0xD83D * 31 + 0xDE00
    assert java_string_hash("") == 0


@pytest.mark.parametrize(
    ("groups", "subtasks", "ranges"),
    [
        (10, 3, [(0, 3), (4, 6), (7, 9)]),
        (10, 4, [(0, 2), (3, 4), (5, 7), (8, 9)]),
        (128, 3, [(0, 42), (43, 85), (86, 127)]),
        (4096, 1, [(0, 4095)]),
        (4096, 3, [(0, 1365), (1366, 2730), (2731, 4095)]),
    ],
)
def test_key_group_ranges_match_flink(groups, subtasks, ranges):
    assert [
        (own[0], own[-1]) for own in (key_group_range(groups, subtasks, n) for n in range(subtasks))
    ] == ranges


def test_surplus_subtasks_have_no_key_groups():
    assert [len(key_group_range(2, 3, n)) for n in range(3)] == [1, 1, 0]
    assert [operator_index(group, 2, 3) for group in range(2)] == [0, 1]


@pytest.mark.parametrize(
    ("parallelism", "groups"),
    [
        (1, 128),
        (85, 128),
        (86, 256),
        (171, 256),
        (172, 512),
        (200, 512),
        (1000, 2048),
        (21845, 32768),
        (32768, 32768),
    ],
)
def test_the_default_parallelism_is_1_5_times_rounded_to_a_power_of_two(parallelism, groups):
    assert default_max_parallelism(parallelism) == groups


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: key_group(2**31, 128), "2147483648"),
        (lambda: key_group(1, 0), "0"),
        (lambda: key_group(1, 32769), "32769"),
        (lambda: key_group_range(10, 3, 3), "3"),
        (lambda: default_max_parallelism(0), "0"),
    ],
)
def test_values_that_flink_rejects_are_rejected(call, value):
    with pytest.raises(BadInput, match=f"it is {value}$"):
        call()
