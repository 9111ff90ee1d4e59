from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.spark.internals import plans

JVM = SimpleNamespace(
    org=SimpleNamespace(
        apache=SimpleNamespace(
            spark=SimpleNamespace(
                sql=SimpleNamespace(
                    catalyst=SimpleNamespace(
                        trees=SimpleNamespace(
                            TreePattern=SimpleNamespace(
                                SCALA_UDF=lambda: "scala", PYTHON_UDF=lambda: "python"
                            )
                        )
                    )
                )
            )
        )
    )
)


@dataclass(frozen=True)
class Plan:
    """A node of a physical plan; ``udf`` is the kind of user function in it."""

    name: str
    inputs: tuple[Plan, ...] = ()
    udf: str = ""

    def nodeName(self) -> str:  # noqa: N802 - Spark's name
        return self.name

    def children(self) -> Any:
        return SimpleNamespace(size=lambda: len(self.inputs), apply=self.inputs.__getitem__)

    def child(self) -> Plan:
        (only,) = self.inputs
        return only

    def containsPattern(self, kind: str) -> bool:  # noqa: N802 - Spark's name
        return self.udf == kind or any(plan.containsPattern(kind) for plan in self.inputs)


def chain(*names: str) -> Plan:
    """Return a plan from its sink to its source."""
    plan = Plan(names[-1])
    for name in reversed(names[:-1]):
        plan = Plan(name, (plan,))
    return plan


AGGREGATION = chain(
    "StateStoreSave", "HashAggregate", "StateStoreRestore", "Exchange", "Project", "MicroBatchScan"
)


def test_parts_that_read_a_source_are_below_the_lowest_exchanges() -> None:
    two = Plan("Union", (chain("Exchange", "Exchange", "A"), chain("Exchange", "B")))
    assert plans.reading_parts(two) == [Plan("A"), Plan("B")]
    assert plans.reading_parts(AGGREGATION) == [chain("Project", "MicroBatchScan")]


def test_a_plan_without_an_exchange_has_no_separate_reading_part() -> None:
    assert plans.reading_parts(chain("WriteToDataSourceV2", "MicroBatchScan")) == []


def test_operators_are_located_by_name_at_any_depth() -> None:
    assert plans.named(AGGREGATION, {"Exchange"}) == [
        chain("Exchange", "Project", "MicroBatchScan")
    ]
    (below,) = plans.below(AGGREGATION, plans.SAVING)
    assert below.name == "HashAggregate"


def test_an_aggregation_can_be_rerun_down_to_its_exchange() -> None:
    (below,) = plans.below(AGGREGATION, plans.SAVING)
    assert plans.is_harmless(below, JVM)


@pytest.mark.parametrize("kind", ["scala", "python"])
def test_a_user_function_is_never_rerun(kind: str) -> None:
    assert not plans.is_harmless(Plan("Project", (Plan("MicroBatchScan"),), udf=kind), JVM)


def test_generated_code_stages_are_recognized_by_their_first_word() -> None:
    assert plans.is_harmless(chain("WholeStageCodegen (3)", "Filter", "MicroBatchScan"), JVM)


@given(
    st.lists(st.sampled_from(["Project", "Filter", "Sort", "Union"])),
    st.text(min_size=1).filter(lambda name: not name.startswith("Exchange")),
)
def test_one_unknown_operator_disqualifies_the_part(known: list[str], unknown: str) -> None:
    name = f"My{unknown}"
    assert not plans.is_harmless(chain(*known, name, "MicroBatchScan"), JVM)
    assert plans.is_harmless(chain(*known, "Exchange", name), JVM)


def test_the_plan_is_that_of_the_last_batch(gateway: Callable[..., Any]) -> None:
    execution = SimpleNamespace(executedPlan=lambda: AGGREGATION)
    java = SimpleNamespace(streamingQuery=lambda: SimpleNamespace(lastExecution=lambda: execution))
    assert plans.last_plan(SimpleNamespace(_jsq=java)) is AGGREGATION
