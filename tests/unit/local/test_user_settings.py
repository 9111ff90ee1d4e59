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


def test_the_defaults_file_is_read_and_named_as_origin(conf: Path) -> None:
    settings = settings_of_user({"SPARK_CONF_DIR": str(conf)})
    assert {name: setting.value for name, setting in settings.items()} == {
        "spark.app.name": "x",
        "spark.executor.cores": "4",
        "spark.master.rest.enabled": "true",
        "spark.cores.max": "400",
    }
    assert {setting.origin for setting in settings.values()} == {str(conf / "spark-defaults.conf")}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SPARK_CONF_DIR": "/c", "SPARK_HOME": "/h"}, "/c/spark-defaults.conf"),
        ({"SPARK_HOME": "/h"}, "/h/conf/spark-defaults.conf"),
    ],
)
def test_the_defaults_file_is_located_as_spark_does(
    environment: dict[str, str], expected: str
) -> None:
    assert defaults_file(environment) == Path(expected)
    assert defaults_file({}).parent.parent.name == "pyspark"


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
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
def test_spark_submit_options_are_parsed(arguments: str, name: str, value: str | None) -> None:
    settings = settings_of_user({"PYSPARK_SUBMIT_ARGS": arguments, "SPARK_CONF_DIR": "/nowhere"})
    assert (settings[name].value if name in settings else None) == value
    assert {setting.origin for setting in settings.values()} <= {"PYSPARK_SUBMIT_ARGS"}


def test_options_override_the_file_and_the_file_overrides_variables(conf: Path) -> None:
    variables = {"SPARK_EXECUTOR_CORES": "9", "MASTER": "yarn", "SPARK_CONF_DIR": str(conf)}
    settings = settings_of_user({**variables, "PYSPARK_SUBMIT_ARGS": "--total-executor-cores 2"})
    assert settings["spark.executor.cores"].value == "4"
    assert settings["spark.cores.max"].value == "2"
    assert settings["spark.master"].origin == "the variable MASTER"


def test_a_properties_file_replaces_the_defaults_file(conf: Path) -> None:
    (conf / "own").write_text("spark.executor.cores=2")
    arguments = f"--properties-file {conf / 'own'} pyspark-shell"
    settings = settings_of_user({"SPARK_CONF_DIR": str(conf), "PYSPARK_SUBMIT_ARGS": arguments})
    assert {name: setting.value for name, setting in settings.items()} == {
        "spark.executor.cores": "2"
    }


def test_an_unclosed_quotation_is_rejected() -> None:
    with pytest.raises(BadInput, match="PYSPARK_SUBMIT_ARGS cannot be read: no closing quotation"):
        settings_of_user({"PYSPARK_SUBMIT_ARGS": "--conf 'a"})


@pytest.mark.parametrize("given", [None, "pyspark-shell", "--master yarn --conf 'a=b c' x.py"])
def test_a_replaced_master_is_the_last_master_option(given: str | None) -> None:
    arguments = shlex.split(with_master(given, "spark://a:1"))
    last = max(number for number, argument in enumerate(arguments) if argument == "--master")
    assert arguments[last + 1] == "spark://a:1"
    assert arguments[-1] == (
        "pyspark-shell" if given != "--master yarn --conf 'a=b c' x.py" else arguments[last + 1]
    )
