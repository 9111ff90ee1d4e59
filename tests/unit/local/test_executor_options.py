from __future__ import annotations

from pathlib import Path

from rheostat.local.executor_options import local_settings

FLAGS = "spark.executor.extraJavaOptions"


def test_class_paths_are_unset_without_jars() -> None:
    assert not [name for name in local_settings() if "ClassPath" in name]


def test_an_archive_path_with_a_space_is_one_option() -> None:
    flags = local_settings(archive_flags=["-XX:SharedArchiveFile=/a b/c.jsa"])[FLAGS].value
    assert '"-XX:SharedArchiveFile=/a b/c.jsa"' in flags


def test_no_jvm_option_sets_the_maximum_heap_size() -> None:
    assert "-Xmx" not in local_settings()[FLAGS].value


def test_the_log_configuration_file_exists() -> None:
    [uri] = [
        flag.partition("=")[2]
        for flag in local_settings()[FLAGS].value.split()
        if flag.startswith("-Dlog4j2.configurationFile")
    ]
    assert Path(uri.removeprefix("file://")).is_file()
