"""Spark's settings that the user has configured before a script runs, each with its origin."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rheostat.clusters.scaling_settings import Given
from rheostat.errors import BadInput
from rheostat.local.spark_home import pyspark_folders
from rheostat.machine.properties_file import properties

SUBMIT = "PYSPARK_SUBMIT_ARGS"
"""The variable with the options that PySpark passes to ``spark-submit``."""

_VARIABLES = {
    "MASTER": "spark.master",
    "SPARK_EXECUTOR_CORES": "spark.executor.cores",
    "SPARK_EXECUTOR_MEMORY": "spark.executor.memory",
    "SPARK_DRIVER_MEMORY": "spark.driver.memory",
}
"""Defaults of ``spark-submit`` (``SparkSubmitArguments.loadEnvironmentArguments``)."""

_OPTIONS = {
    "--master": "spark.master",
    "--executor-cores": "spark.executor.cores",
    "--total-executor-cores": "spark.cores.max",
    "--num-executors": "spark.executor.instances",
    "--executor-memory": "spark.executor.memory",
    "--driver-memory": "spark.driver.memory",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}
_FILE = "--properties-file"
_ITSELF = "pyspark-shell"


def settings_of_user(environment: Mapping[str, str]) -> dict[str, Given]:
    """Return the settings that a session gets from the environment: variables, the defaults file,
    and ``PYSPARK_SUBMIT_ARGS``; later ones take precedence.

    ``spark-env.sh`` is a program and is not read. Raises BadInput for an unclosed quotation in
    ``PYSPARK_SUBMIT_ARGS``.
    """
    words = list(_options(environment))
    named = next((Path(value) for option, value in reversed(words) if option == _FILE), None)
    return {
        **_of_variables(environment),
        **_of_file(named or defaults_file(environment)),
        **_of_submit(words),
    }


def defaults_file(environment: Mapping[str, str]) -> Path:
    """Return the path of ``spark-defaults.conf``: in ``SPARK_CONF_DIR``, else in the folder
    ``conf`` of ``SPARK_HOME``, else of the installed PySpark.
    """
    folder = environment.get("SPARK_CONF_DIR")
    home = environment.get("SPARK_HOME") or next(iter(pyspark_folders()), "")
    return (Path(folder) if folder else Path(home) / "conf") / "spark-defaults.conf"


def with_master(given: str | None, master: str) -> str:
    """Return ``PYSPARK_SUBMIT_ARGS`` with another master appended: the last option wins."""
    words = shlex.split(given or _ITSELF)
    end = [words.pop()] if words and words[-1] == _ITSELF else []
    return shlex.join([*words, "--master", master, *end])


def _of_variables(environment: Mapping[str, str]) -> dict[str, Given]:
    return {
        name: Given(environment[variable], f"the variable {variable}")
        for variable, name in _VARIABLES.items()
        if environment.get(variable)
    }


def _of_file(path: Path) -> dict[str, Given]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return {}
    return {
        line.name: Given((line.value or "").strip(), str(path))
        for line in properties(text)
        if line.name.startswith("spark.")
    }


def _of_submit(options: Sequence[tuple[str, str]]) -> dict[str, Given]:
    """Return the settings in these options; ``--master`` etc. take precedence over ``--conf``."""
    confs = [value.partition("=") for option, value in options if option in ("--conf", "-c")]
    settings = {name: value for name, _, value in confs}
    settings |= {_OPTIONS[option]: value for option, value in options if option in _OPTIONS}
    return {name: Given(value, SUBMIT) for name, value in settings.items()}


def _options(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the options with their values, including those written ``--option=value``."""
    try:
        words = iter(shlex.split(environment.get(SUBMIT, "")))
    except ValueError as fault:
        raise BadInput(f"{SUBMIT} cannot be read: {str(fault).lower()}") from None
    for word in words:
        option, equals, value = word.partition("=")
        if equals and option.startswith("--"):
            yield option, value
        elif word in (*_OPTIONS, _FILE, "--conf", "-c"):
            yield word, next(words, "")
