from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.local.executor_options import EXECUTOR_FLAGS
from rheostat.model import Limits
from rheostat_lab.clusters.session_options import scaling_options, session_options

FLAGS = "spark.executor.extraJavaOptions"


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50))
def test_spark_starts_at_the_initial_size_and_never_resizes_by_itself(
    floor: int, above: int, room: int
) -> None:
    options = scaling_options(
        Limits(min_executors=floor, max_executors=floor + above + room), floor + above
    )
    sizes = {
        options[f"spark.dynamicAllocation.{name}"] for name in ("initialExecutors", "minExecutors")
    }
    assert sizes == {str(floor + above)}
    assert options["spark.cores.max"] == str(floor + above + room)
    timeouts = [value for name, value in options.items() if "imeout" in name]
    assert len(timeouts) == 5
    assert all(int(value.removesuffix("s")) > 86_400 for value in timeouts)


def test_the_floor_is_the_initial_size_by_default() -> None:
    assert (
        scaling_options(Limits(min_executors=3))["spark.dynamicAllocation.initialExecutors"] == "3"
    )


@pytest.mark.parametrize("initial", [0, 1, 9])
def test_an_initial_size_outside_the_limits_is_rejected(initial: int) -> None:
    with pytest.raises(
        BadInput, match=f"{initial} initial executors are outside of the limits 2 to 8"
    ):
        scaling_options(Limits(min_executors=2), initial)


def test_cores_max_scales_with_the_cores_per_executor() -> None:
    assert (
        scaling_options(Limits(max_executors=4), user={"spark.executor.cores": "2"})[
            "spark.cores.max"
        ]
        == "8"
    )


@pytest.mark.parametrize("cores", ["two", "0", ""])
def test_an_invalid_number_of_cores_is_rejected(cores: str) -> None:
    with pytest.raises(BadInput, match=r"spark\.executor\.cores must be a number from 1"):
        scaling_options(Limits(), user={"spark.executor.cores": cores})


def test_the_users_jvm_options_follow_and_override_ours() -> None:
    flags = session_options(Limits(), user={FLAGS: "-Xss2m -Da=b"})[FLAGS].split()
    assert set(EXECUTOR_FLAGS) < set(flags)
    assert flags[-2:] == ["-Xss2m", "-Da=b"]


def test_the_users_own_options_are_kept() -> None:
    user = {"spark.executor.memory": "2g", "spark.driver.memory": "3g", "spark.ui.port": "4040"}
    assert user.items() <= session_options(Limits(), driver_memory_mib=700, user=user).items()


def test_our_jars_precede_the_users_class_path() -> None:
    options = session_options(
        Limits(),
        jars=[Path("/k/a.jar"), Path("/k/b.jar")],
        user={"spark.executor.extraClassPath": "/u/c.jar"},
    )
    assert options["spark.executor.extraClassPath"] == "/k/a.jar:/k/b.jar:/u/c.jar"
    assert options["spark.driver.extraClassPath"] == "/k/a.jar:/k/b.jar"


def test_a_quiet_driver_logs_errors_only_and_keeps_the_users_options() -> None:
    name = "spark.driver.extraJavaOptions"
    flags = session_options(Limits(), quiet=True, user={name: "-Da=b"})[name].split()
    assert "-Drheostat.log.level=error" in flags
    assert flags[-1] == "-Da=b"
    assert name not in session_options(Limits())
