"""Finds event logs on any file system, and reads their lines whatever their compression."""

from __future__ import annotations

import io
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from rheostat.errors import BadInput
from rheostat.storage.file_system import local_path

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

ROLLED = "eventlog_v2_"
_PART = re.compile(r"events_(\d+)_.+?(\.(?:zstd|lz4|snappy|lzf|gz))?(\.compact)?$")
_CODECS = ("zstd", "lz4", "snappy", "gz")
COMPRESSED = tuple(f".{codec}" for codec in _CODECS)
"""Endings of compressed logs."""

_LZ4_MAGIC, _SNAPPY_MAGIC = b"LZ4Block", b"\x82SNAPPY\x00"
_CHUNK = 1 << 14
"""Bytes of a read: what a truncated file loses before the cut."""

_LZ4_STORED = 0x10
"""The method of a block that is not compressed, in the upper half of the token."""


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The files of one application's event log, in their order."""

    application: str
    """The name of the log: the application's id and, where there is one, its attempt."""

    files: tuple[str, ...]
    size_bytes: int
    written_s: float = 0.0
    """When the newest file was written, in Unix seconds."""

    running: bool = False
    refused: str | None = None
    """Why the folder of a rolled log could not be listed."""


def find_logs(place: str) -> list[LogFiles]:
    """Return the event logs in a folder, or the one that is named.

    ``place`` is a path or an ``s3a://`` address. Raises BadInput where nothing can be read.
    Source: Spark's ``EventLogFileWriters`` (single and rolling files) and
    ``EventLogFileCompactor``.
    """
    from pyarrow.fs import FileSelector, FileType

    system, path = _opened(place)
    try:
        info = system.get_file_info(path)
        if info.type == FileType.NotFound:
            raise missing(place)
        if info.type == FileType.File:
            return [_single(info)]
        if info.base_name.startswith(ROLLED):
            return [_rolled(system, info)]
        children = sorted(system.get_file_info(FileSelector(path)), key=lambda file: file.base_name)
    except OSError as error:
        raise BadInput(f"{place} cannot be read: {str(error).splitlines()[0]}") from None
    logs = [
        _rolled(system, child) if child.type == FileType.Directory else _single(child)
        for child in children
        if (child.type == FileType.Directory) == child.base_name.startswith(ROLLED)
        and not child.base_name.startswith((".", "_"))
    ]
    if not logs:
        raise missing(place, is_folder=True)
    return logs


def missing(place: str, *, is_folder: bool = False) -> BadInput:
    """Return what to raise where there is no event log, or none in a folder."""
    if not is_folder:
        return BadInput(f"there is no event log at {place}; it is a file or a folder of them")
    return BadInput(
        f"there is no event log in {place}; Spark writes them to spark.eventLog.dir where"
        " spark.eventLog.enabled is true"
    )


def lines(log: LogFiles, place: str) -> Iterator[str]:
    """Yield the lines of a log; a truncated end, as of a running application, ends them.

    Raises BadInput for a compression that cannot be read and a folder that could not be listed.
    """
    if log.refused:
        raise BadInput(log.refused)
    system, _ = _opened(place)
    for file in log.files:
        codec = _codec(file)
        with system.open_input_stream(file, compression=None, buffer_size=1 << 20) as stream:
            plain = io.BufferedReader(_Decompressed(_chunks(stream, codec)), 1 << 20)
            text = io.TextIOWrapper(plain, encoding="utf-8", errors="replace", newline="\n")
            yield from text


def refusal(error: Exception) -> str:
    """Return in one line why a file or folder cannot be read."""
    if isinstance(error, OSError) and error.errno:
        return f"it cannot be read: {os.strerror(error.errno)}"
    return str(error).splitlines()[0]


def _opened(place: str) -> tuple[FileSystem, str]:
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem, LocalFileSystem

    if "://" not in place or place.startswith("file:"):
        return LocalFileSystem(), str(local_path(place).absolute())
    try:
        system, path = FileSystem.from_uri(re.sub(r"^s3[an]:", "s3:", place))
    except (ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{place} cannot be opened: {str(error).splitlines()[0]}") from None
    return system, path


def _single(info: Any) -> LogFiles:
    running = info.base_name.endswith(".inprogress")
    name = info.base_name.removesuffix(".inprogress")
    for codec in (*_CODECS, "lzf"):
        name = name.removesuffix(f".{codec}")
    return LogFiles(name, (info.path,), info.size or 0, _written_s(info), running)


def _rolled(system: FileSystem, folder: Any) -> LogFiles:
    """Return a rolled log from its newest compacted file on."""
    from pyarrow.fs import FileSelector

    parts: dict[int, tuple[bool, str, int]] = {}
    running, written_s, name = False, 0.0, folder.base_name.removeprefix(ROLLED)
    try:
        files = system.get_file_info(FileSelector(folder.path))
    except OSError as error:  # Others delete old logs meanwhile, or forbid theirs.
        return LogFiles(name, (), 0, _written_s(folder), refused=refusal(error))
    for file in files:
        written_s = max(written_s, _written_s(file))
        running = running or file.base_name.endswith(".inprogress")
        if match := _PART.match(file.base_name):
            compacted = match[3] is not None
            index = int(match[1])
            if compacted or index not in parts:
                parts[index] = (compacted, file.path, file.size or 0)
    first = max((index for index, part in parts.items() if part[0]), default=0)
    used = [parts[index] for index in sorted(parts) if index >= first]
    return LogFiles(
        name,
        tuple(path for _, path, _ in used),
        sum(size for _, _, size in used),
        written_s,
        running,
    )


def _written_s(info: Any) -> float:
    return (info.mtime_ns or 0) / 1e9


def _codec(file: str) -> str | None:
    name = file.removesuffix(".inprogress").removesuffix(".compact")
    if name.endswith(".lzf"):
        raise BadInput(
            f"{file} is compressed with LZF; zstd, lz4, snappy, gzip and none can be read"
        )
    return next((codec for codec in _CODECS if name.endswith(f".{codec}")), None)


def _chunks(stream: Any, codec: str | None) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file up to its end or the point where it is cut."""
    from pyarrow import CompressedInputStream

    if codec == "lz4":
        return _lz4_blocks(stream)
    if codec == "snappy":
        return _snappy_blocks(stream)
    name = "gzip" if codec == "gz" else codec
    return _plain(CompressedInputStream(stream, name) if name else stream)


def _plain(stream: Any) -> Iterator[bytes]:
    while True:
        try:
            chunk = stream.read(_CHUNK)
        except OSError:  # A compressed frame that a running application has not finished.
            return
        if not chunk:
            return
        yield chunk


def _lz4_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Source: ``net.jpountz.lz4.LZ4BlockOutputStream``: magic, token, two lengths, checksum."""
    from pyarrow import Codec

    codec = Codec("lz4_raw")
    while len(header := stream.read(21)) == 21 and header.startswith(_LZ4_MAGIC):
        token, packed, plain = struct.unpack_from("<Bii", header, 8)
        block = stream.read(packed)
        if len(block) < packed:
            return
        if packed:  # A block without bytes ends a stream; another may follow.
            stored = token & 0xF0 == _LZ4_STORED
            yield block if stored else codec.decompress(block, plain, asbytes=True)


def _snappy_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Source: ``org.xerial.snappy.SnappyOutputStream``: a header, then length and block."""
    from pyarrow import Codec

    codec = Codec("snappy")
    while len(start := stream.read(4)) == 4:
        if start == _SNAPPY_MAGIC[:4]:
            stream.read(12)
            continue
        (packed,) = struct.unpack(">i", start)
        block = stream.read(packed)
        if len(block) < packed:
            return
        yield codec.decompress(block, _snappy_length(block), asbytes=True)


def _snappy_length(block: bytes) -> int:
    """Return the length at the beginning of a block, seven bits a byte, lowest first."""
    length = 0
    for position, byte in enumerate(block):
        length |= (byte & 0x7F) << (7 * position)
        if not byte & 0x80:
            break
    return length


class _Decompressed(io.RawIOBase):
    """Chunks as a readable file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = next(self._chunks, b"")
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count
