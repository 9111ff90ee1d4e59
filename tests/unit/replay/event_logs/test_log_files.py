# mypy: disallow-untyped-calls=False
import io
import struct

import pyarrow as pa
import pytest

from rheostat.errors import BadInput
from rheostat.replay.event_logs.log_files import find_logs, lines

TEXT = [f'{{"Event":"line {number}"}}\n' for number in range(3000)]
PLAIN = "".join(TEXT).encode()


def lz4(plain):
    """As net.jpountz.lz4.LZ4BlockOutputStream writes it: blocks of 32 KB, and one without bytes."""
    out = io.BytesIO()
    for start in range(0, len(plain), 1 << 15):
        block = plain[start : start + (1 << 15)]
        packed = pa.compress(block, "lz4_raw", asbytes=True)
        out.write(b"LZ4Block" + struct.pack("<Biii", 0x25, len(packed), len(block), 0) + packed)
    out.write(b"LZ4Block" + struct.pack("<Biii", 0x15, 0, 0, 0))
    return out.getvalue()


def snappy(plain):
    """As org.xerial.snappy.SnappyOutputStream writes it."""
    out = io.BytesIO(b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1))
    out.seek(0, io.SEEK_END)
    for start in range(0, len(plain), 1 << 15):
        packed = pa.compress(plain[start : start + (1 << 15)], "snappy", asbytes=True)
        out.write(struct.pack(">i", len(packed)) + packed)
    return out.getvalue()


def zstd(plain):
    half = len(plain) // 2
    return b"".join(
        pa.compress(part, "zstd", asbytes=True) for part in (plain[:half], plain[half:])
    )


PACKED = {"": bytes, ".lz4": lz4, ".snappy": snappy, ".zstd": zstd}


@pytest.mark.parametrize("suffix", PACKED)
def test_logs_of_every_compression_are_read(tmp_path, suffix):
    (tmp_path / f"app-1{suffix}").write_bytes(PACKED[suffix](PLAIN))
    (log,) = find_logs(str(tmp_path))
    assert (log.application, log.running) == ("app-1", False)
    assert list(lines(log, str(tmp_path))) == TEXT


@pytest.mark.parametrize("suffix", PACKED)
def test_a_truncated_log_yields_the_lines_before_the_cut(tmp_path, suffix):
    packed = PACKED[suffix](PLAIN)
    (tmp_path / f"app-1{suffix}.inprogress").write_bytes(packed[: int(0.8 * len(packed))])
    (log,) = find_logs(str(tmp_path))
    read = list(lines(log, str(tmp_path)))
    assert log.running
    assert 0 < len(read) < 3000
    assert read[:-1] == TEXT[: len(read) - 1]


def test_a_rolled_log_starts_with_its_newest_compacted_file(tmp_path):
    folder = tmp_path / "eventlog_v2_app-2"
    folder.mkdir()
    (folder / "appstatus_app-2").touch()
    for name, text in {
        "events_1_app-2": "old\n",
        "events_2_app-2": "old\n",
        "events_2_app-2.compact": "compacted\n",
        "events_3_app-2": "three\n",
        "events_10_app-2": "ten\n",
    }.items():
        (folder / name).write_text(text)
    for place in (tmp_path, folder):
        (log,) = find_logs(str(place))
        assert log.application == "app-2"
        assert list(lines(log, str(place))) == ["compacted\n", "three\n", "ten\n"]


def test_a_file_uri_is_accepted(tmp_path):
    (tmp_path / "app-1").write_bytes(PLAIN)
    (log,) = find_logs((tmp_path / "app-1").as_uri())
    assert len(list(lines(log, "file:///"))) == 3000


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere", "there is no event log at"),
        ("", "there is no event log in"),
        ("x://y", "opened"),
    ],
)
def test_a_place_without_logs_is_rejected_in_one_line(tmp_path, place, message):
    with pytest.raises(BadInput, match=message) as caught:
        find_logs(place if "://" in place else str(tmp_path / place))
    assert "\n" not in str(caught.value)


def test_an_unsupported_compression_is_named(tmp_path):
    (tmp_path / "app-1.lzf").write_bytes(b"x")
    (log,) = find_logs(str(tmp_path))
    with pytest.raises(BadInput, match="LZF"):
        list(lines(log, str(tmp_path)))
