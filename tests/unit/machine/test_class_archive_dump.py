from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import RheostatError
from rheostat.machine.jdk import Jdk
from rheostat.spark.warming.warm_start import dump, named

BACKEND = "org.apache.spark.executor.Backend"
HIERARCHY = f"""21650:
java.lang.Object/null
|--java.lang.Enum/null
|  |--scala.Option$/0x00007f01a8000c00
|--{BACKEND}/0x00007f01a8000c00
|--org.apache.spark.Foo$$Lambda$12/0x0000000800c9/0x00007f01a8000c00
|--org.apache.spark.Foo$$anon$1/0x00007f01a8000c00
|--org.apache.spark.GeneratedClass$Specific/0x00007f01b8000c00
|--org.apache.spark.GeneratedOnDisk/0x00007f01a8000c00
|--jdk.proxy2.$Proxy9/0x00007f01a8000c00
|--java.lang.invoke.LambdaForm$MH/null
"""


def jdk_with_jcmd(folder: Path, script: str) -> Jdk:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "jcmd").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bin" / "jcmd").chmod(0o755)
    return Jdk(folder, 17, True)


def test_only_classes_that_the_next_jvm_can_load_by_name_are_listed() -> None:
    assert named(HIERARCHY, near=BACKEND) == [
        "java.lang.Enum",
        "java.lang.Object",
        "org.apache.spark.Foo$$anon$1",
        "org.apache.spark.GeneratedOnDisk",
        BACKEND,
        "scala.Option$",
    ]


def test_a_jvm_that_is_not_an_executor_is_rejected() -> None:
    with pytest.raises(RheostatError, match=r"has not loaded org\.apache\.spark\.Other"):
        named(HIERARCHY, near="org.apache.spark.Other")


def test_an_archive_is_moved_into_place_only_when_complete(tmp_path: Path) -> None:
    archive = tmp_path / "kept" / "archive.jsa"
    dump(
        1,
        archive,
        jdk_with_jcmd(
            tmp_path / "jdk", f'ls {tmp_path}/kept > {tmp_path}/during; echo complete > "$4"'
        ),
    )
    assert archive.read_text() == "complete\n"
    assert (tmp_path / "during").read_text() == ""
    assert list(archive.parent.iterdir()) == [archive]


@pytest.mark.parametrize("script", ["echo part > $4; exit 1", "echo dynamic dump is not supported"])
def test_a_failed_dump_leaves_no_file(tmp_path: Path, script: str) -> None:
    with pytest.raises(RheostatError, match="jcmd"):
        dump(1, tmp_path / "kept" / "archive.jsa", jdk_with_jcmd(tmp_path / "jdk", script))
    assert list((tmp_path / "kept").iterdir()) == []
