"""Our local files equal those that Hadoop writes: content, checksum and permissions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rheostat.local.fast_local_files import CLASS


@pytest.mark.parametrize("mode", ["640", "755"])
def test_a_file_equals_hadoops_in_content_checksum_and_permissions(
    local_spark: Any, tmp_path: Path, mode: str
) -> None:
    for name, kind in (("ours", CLASS), ("hadoops", "org.apache.hadoop.fs.LocalFileSystem")):
        write(local_spark, tmp_path / name, kind, mode)
    bits = 0o100000 | int(mode, 8)
    ours, hadoops = file_contents(tmp_path / "ours"), file_contents(tmp_path / "hadoops")
    assert ours == hadoops
    assert {name: (given, len(content)) for name, (given, content) in ours.items()} == {
        ".file.crc": (bits, 12),
        "file": (bits, 5),
    }


def write(spark: Any, folder: Path, kind: str, mode: str) -> None:
    jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
    files = jvm.java.lang.Class.forName(
        kind, True, jvm.java.lang.Thread.currentThread().getContextClassLoader()
    ).newInstance()
    files.initialize(jvm.java.net.URI("file:///"), conf)
    path = jvm.org.apache.hadoop.fs.Path(f"{folder}/file")
    stream = files.create(path)
    stream.write(bytearray(b"12345"))
    stream.close()
    files.setPermission(path, jvm.org.apache.hadoop.fs.permission.FsPermission(mode))


def file_contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (path.stat().st_mode, path.read_bytes()) for path in sorted(folder.iterdir())
    }
