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


def test_an_executor_runs_the_command_of_its_image_with_ordered_options() -> None:
    options = {f"SPARK_JAVA_OPT_{n}": f"-D{n}" for n in (10, 2, 0)}
    command = node.command(
        container(args=["executor"]),
        {**EXECUTOR, **options, "SPARK_CLASSPATH": "/own.jar"},
        MEANS,
    )
    assert command[:7] == [
        "/java",
        "-D0",
        "-D2",
        "-D10",
        "-Xmx512m",
        "-cp",
        "/own.jar:/spark/jars/*",
    ]
    assert command[command.index("--executor-id") + 1] == "7"
    assert command[command.index("--hostname") + 1] == "127.1.0.1"


def test_other_containers_run_their_own_command() -> None:
    assert node.command(container(command=["sleep"], args=["9"]), {}, MEANS) == ["sleep", "9"]


def test_variables_in_commands_and_later_variables_are_expanded() -> None:
    names = {"N": "5", "WORDS": "--most=$(N) --other=$(LATER)", "LATER": "1"}
    env = [Made(name=name, value=value, value_from=None) for name, value in names.items()]
    pod = Made(metadata=Made(name="a", namespace="b"))
    given = node.environment(container(env=env), "127.1.0.1", pod)
    assert given["WORDS"] == "--most=5 --other=$(LATER)"
    command = node.command(
        container(command=["run", "$(N)"], args=["$$(N)", "$(NO)"]), given, MEANS
    )
    assert command == ["run", "5", "$(N)", "$(NO)"]


def test_pod_field_references_are_resolved() -> None:
    pod = Made(metadata=Made(name="a", namespace="b"))
    fields = ["status.podIP", "metadata.name", "spec.other"]
    refers = [
        Made(name=field, value=None, value_from=Made(field_ref=Made(field_path=field)))
        for field in fields
    ]
    plain = Made(name="x", value="1", value_from=None)
    environment = node.environment(container(env=[*refers, plain]), "127.1.0.1", pod)
    assert environment == {
        "status.podIP": "127.1.0.1",
        "metadata.name": "a",
        "spec.other": "",
        "x": "1",
    }


def test_the_decommission_hook_of_sparks_image_is_recognized() -> None:
    def hooked(*command: str) -> Made:
        hook = Made(_exec=Made(command=list(command)))
        return container(lifecycle=Made(pre_stop=hook))

    assert node.decommissions(hooked("/opt/decom.sh"))
    assert not node.decommissions(hooked("sleep", "5"))
    assert not node.decommissions(container())


def test_every_pod_has_a_unique_address() -> None:
    assert len({node.address(number) for number in range(50_000)}) == 50_000
    assert node.address(0) == "127.1.0.1"


def test_a_driver_runs_the_command_of_its_image_with_local_configuration() -> None:
    command = ["driver", "--properties-file", "/opt/spark/conf/spark.properties", "local:///app.py"]
    result = node.command(
        container(args=command),
        {"SPARK_DRIVER_BIND_ADDRESS": "127.1.0.1"},
        MEANS,
        {"/opt/spark/conf": Path("/volumes/conf")},
    )
    assert result[0] == "/spark/bin/spark-submit"
    assert "spark.driver.bindAddress=127.1.0.1" in result
    assert result[-4:] == [
        "client",
        "--properties-file",
        "/volumes/conf/spark.properties",
        "local:///app.py",
    ]


def test_driver_and_executor_jvms_resolve_service_names() -> None:
    means = replace(MEANS, names="-Dhosts=/hosts")
    assert "-Dhosts=/hosts" in node.command(container(args=["executor"]), EXECUTOR, means)
    expected = {"JAVA_TOOL_OPTIONS": "-Dhosts=/hosts"}
    assert node.jvm_options(container(args=["driver"]), means) == expected
    assert node.jvm_options(container(command=["sleep"]), means) == {}
