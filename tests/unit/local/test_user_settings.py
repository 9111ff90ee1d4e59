"""The user's settings before a script runs, and their origin."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.local.user_settings import defaults_file, settings_of_user, with_master


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.master x\nspark.app.name x\nspark.executor.cores 4\nother 1\n"
        "spark.master.rest.enabled true\nspark.cores.max=400\n"
    )
    return tmp_path


def test_the_file_of_defaults_is_read_and_named(conf: Path) -> None:
    found = settings_of_user({"SPARK_CONF_DIR": str(conf)})
    assert {name: each.value for name, each in found.items()} == {
        "spark.app.name": "x",
        "spark.executor.cores": "4",
        "spark.master.rest.enabled": "true",
        "spark.cores.max": "400",
    }
    assert {each.origin for each in found.values()} == {str(conf / "spark-defaults.conf")}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SPARK_CONF_DIR": "/c", "SPARK_HOME": "/h"}, "/c/spark-defaults.conf"),
        ({"SPARK_HOME": "/h"}, "/h/conf/spark-defaults.conf"),
    ],
)
def test_the_file_is_where_spark_looks_for_it(environment: dict[str, str], expected: str) -> None:
    assert defaults_file(environment) == Path(expected)
    assert defaults_file({}).parent.parent.name == "pyspark"


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("pyspark-shell", "spark.master", None),
        ("--master yarn pyspark-shell", "spark.master", "yarn"),
        ("--master=yarn pyspark-shell", "spark.master", "yarn"),
        ("--conf a=b --conf spark.master=k8s://x pyspark-shell", "spark.master", "k8s://x"),
        ("-c spark.cores.max=7", "spark.cores.max", "7"),
        ("--executor-cores 2 --conf spark.executor.cores=3", "spark.executor.cores", "2"),
        ("--conf spark.cores.max=1 --conf spark.cores.max=2", "spark.cores.max", "2"),
        ("--driver-java-options '-Da=b -Dc=d'", "spark.driver.extraJavaOptions", "-Da=b -Dc=d"),
    ],
)
def test_the_options_of_spark_submit_are_read(words: str, name: str, value: str | None) -> None:
    found = settings_of_user({"PYSPARK_SUBMIT_ARGS": words, "SPARK_CONF_DIR": "/nowhere"})
    assert (found[name].value if name in found else None) == value
    assert {each.origin for each in found.values()} <= {"PYSPARK_SUBMIT_ARGS"}


def test_an_option_goes_before_the_file_and_the_file_before_a_variable(conf: Path) -> None:
    variables = {"SPARK_EXECUTOR_CORES": "9", "MASTER": "yarn", "SPARK_CONF_DIR": str(conf)}
    found = settings_of_user({**variables, "PYSPARK_SUBMIT_ARGS": "--total-executor-cores 2"})
    assert found["spark.executor.cores"].value == "4"
    assert found["spark.cores.max"].value == "2"
    assert found["spark.master"].origin == "the variable MASTER"


def test_a_file_that_spark_submit_names_stands_for_the_defaults(conf: Path) -> None:
    (conf / "own").write_text("spark.executor.cores=2")
    words = f"--properties-file {conf / 'own'} pyspark-shell"
    found = settings_of_user({"SPARK_CONF_DIR": str(conf), "PYSPARK_SUBMIT_ARGS": words})
    assert {name: each.value for name, each in found.items()} == {"spark.executor.cores": "2"}


def test_an_open_quotation_is_refused() -> None:
    with pytest.raises(BadInput, match="PYSPARK_SUBMIT_ARGS cannot be read: no closing quotation"):
        settings_of_user({"PYSPARK_SUBMIT_ARGS": "--conf 'a"})


@pytest.mark.parametrize("given", [None, "pyspark-shell", "--master yarn --conf 'a=b c' x.py"])
def test_another_master_is_the_last_one(given: str | None) -> None:
    words = shlex.split(with_master(given, "spark://a:1"))
    last = max(number for number, word in enumerate(words) if word == "--master")
    assert words[last + 1] == "spark://a:1"
    assert words[-1] == (
        "pyspark-shell" if given != "--master yarn --conf 'a=b c' x.py" else words[last + 1]
    )
