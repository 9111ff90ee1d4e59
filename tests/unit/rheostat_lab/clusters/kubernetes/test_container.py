from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

from rheostat_lab.clusters.kubernetes import container as node

MEANS = node.Means(
    folder=Path("/nodes"), spark_home=Path("/spark"), java=Path("/java"), cores=1, memory_mib=1
)
EXECUTOR = {
    "SPARK_DRIVER_URL": "spark://driver",
    "SPARK_EXECUTOR_ID": "7",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_APPLICATION_ID": "spark-a",
    "SPARK_EXECUTOR_POD_IP": "127.1.0.1",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "a-exec-7",
    "SPARK_EXECUTOR_MEMORY": "512m",
}


def container(**given: Any) -> Made:
    return Made(**{"args": None, "command": None, "env": [], "lifecycle": None, **given})


def test_an_executor_is_run_as_its_image_would_with_options_in_their_order() -> None:
    options = {f"SPARK_JAVA_OPT_{n}": f"-D{n}" for n in (10, 2, 0)}
    words = node.command(
        container(args=["executor"]),
        {**EXECUTOR, **options, "SPARK_CLASSPATH": "/own.jar"},
        MEANS,
    )
    assert words[:7] == ["/java", "-D0", "-D2", "-D10", "-Xmx512m", "-cp", "/own.jar:/spark/jars/*"]
    assert words[words.index("--executor-id") + 1] == "7"
    assert words[words.index("--hostname") + 1] == "127.1.0.1"


def test_any_other_container_is_its_command() -> None:
    assert node.command(container(command=["sleep"], args=["9"]), {}, MEANS) == ["sleep", "9"]


def test_variables_in_words_and_in_later_variables_are_filled_in() -> None:
    names = {"N": "5", "WORDS": "--most=$(N) --other=$(LATER)", "LATER": "1"}
    env = [Made(name=name, value=value, value_from=None) for name, value in names.items()]
    pod = Made(metadata=Made(name="a", namespace="b"))
    given = node.environment(container(env=env), "127.1.0.1", pod)
    assert given["WORDS"] == "--most=5 --other=$(LATER)"
    words = node.command(container(command=["run", "$(N)"], args=["$$(N)", "$(NO)"]), given, MEANS)
    assert words == ["run", "5", "$(N)", "$(NO)"]


def test_what_refers_to_the_pod_is_looked_up() -> None:
    pod = Made(metadata=Made(name="a", namespace="b"))
    fields = ["status.podIP", "metadata.name", "spec.other"]
    refers = [
        Made(name=each, value=None, value_from=Made(field_ref=Made(field_path=each)))
        for each in fields
    ]
    plain = Made(name="x", value="1", value_from=None)
    found = node.environment(container(env=[*refers, plain]), "127.1.0.1", pod)
    assert found == {
        "status.podIP": "127.1.0.1",
        "metadata.name": "a",
        "spec.other": "",
        "x": "1",
    }


def test_the_hook_of_spark_s_image_is_known() -> None:
    def hooked(*words: str) -> Made:
        hook = Made(_exec=Made(command=list(words)))
        return container(lifecycle=Made(pre_stop=hook))

    assert node.decommissions(hooked("/opt/decom.sh"))
    assert not node.decommissions(hooked("sleep", "5"))
    assert not node.decommissions(container())


def test_every_pod_has_an_address_of_its_own() -> None:
    assert len({node.address(number) for number in range(50_000)}) == 50_000
    assert node.address(0) == "127.1.0.1"


def test_a_driver_is_run_as_its_image_would_with_its_configuration_where_it_is() -> None:
    words = ["driver", "--properties-file", "/opt/spark/conf/spark.properties", "local:///app.py"]
    found = node.command(
        container(args=words),
        {"SPARK_DRIVER_BIND_ADDRESS": "127.1.0.1"},
        MEANS,
        {"/opt/spark/conf": Path("/volumes/conf")},
    )
    assert found[0] == "/spark/bin/spark-submit"
    assert "spark.driver.bindAddress=127.1.0.1" in found
    assert found[-4:] == [
        "client",
        "--properties-file",
        "/volumes/conf/spark.properties",
        "local:///app.py",
    ]


def test_jvms_of_drivers_and_executors_find_the_names_of_services() -> None:
    means = replace(MEANS, names="-Dhosts=/hosts")
    assert "-Dhosts=/hosts" in node.command(container(args=["executor"]), EXECUTOR, means)
    said = {"JAVA_TOOL_OPTIONS": "-Dhosts=/hosts"}
    assert node.jvm_options(container(args=["driver"]), means) == said
    assert node.jvm_options(container(command=["sleep"]), means) == {}
