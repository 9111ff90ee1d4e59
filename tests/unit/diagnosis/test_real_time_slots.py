"""The slots of a query in real-time mode are counted before it starts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.kafka.test_kafka_offsets import Cluster

from rheostat.cli.app import run
from rheostat.diagnosis.real_time import SlotNeed, frame_finding, topic_partitions
from rheostat.errors import BadInput
from rheostat.spark.internals.plans import shuffle_partitions

PLAN = """== Physical Plan ==
*(2) HashAggregate(keys=[value#21], functions=[count(1)])
+- StateStoreSave [value#21], state info [ checkpoint = <unknown>, numPartitions = 8]
   +- Exchange hashpartitioning(window#3-T60000ms, value#21, 8), REQUIRED_BY_STATEFUL_OPERATOR
      +- *(1) BroadcastHashJoin [id#1L], [id#2L], Inner, BuildRight, false
         :- StreamingRelation kafka, [key#7, value#8]
         +- BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, false]),false)
            +- *(0) Range (0, 10, step=1, splits=2)
"""


class Leaf:
    """A source in the logical plan of a streaming DataFrame."""

    def __init__(self, name: str, **options: str) -> None:
        self.options = {key.replace("_", "."): value for key, value in options.items()}
        self.sourceName = lambda: name
        self.nodeName = lambda: "StreamingRelationV2"
        self.isStreaming = lambda: True
        self.extraOptions = lambda: self.options


def table() -> Any:
    return SimpleNamespace(isStreaming=lambda: False, nodeName=lambda: "Range")


def session(slots: int, plan: str, cores: str = "4") -> Any:
    settings = {"spark.executor.cores": cores}
    conf = SimpleNamespace(get=settings.get, getAll=settings.items)
    sql = SimpleNamespace(explainString=lambda execution, mode: plan)
    context = SimpleNamespace(
        defaultParallelism=slots, getConf=lambda: conf, _jvm=SimpleNamespace(PythonSQLUtils=sql)
    )
    return SimpleNamespace(sparkContext=context)


def frame(*leaves: Any) -> Any:
    listed = SimpleNamespace(size=lambda: len(leaves), apply=leaves.__getitem__)
    analyzed = SimpleNamespace(collectLeaves=lambda: listed)
    execution = SimpleNamespace(analyzed=lambda: analyzed)
    return SimpleNamespace(isStreaming=True, _jdf=SimpleNamespace(queryExecution=lambda: execution))


def partitions(count: int | None) -> Any:
    def counted(kafka: Mapping[str, Any], topics: Sequence[str]) -> int | None:
        assert kafka == {"bootstrap.servers": "broker:9092"}
        return None if count is None else count * len(topics)

    return counted


def orders(**options: str) -> Leaf:
    return Leaf("kafka", kafka_bootstrap_servers="broker:9092", **options)


def test_every_source_and_shuffle_partition_needs_a_slot() -> None:
    finding = frame_finding(
        session(20, PLAN), frame(orders(subscribe="orders, returns"), table()), partitions(3)
    )
    assert finding.state == "good"
    assert finding.line == (
        "a query needs 14 slots before it starts: 6 source partitions (orders, returns) plus 8"
        " shuffle partitions; 20 are available"
    )


def test_too_few_slots_are_advised_as_a_floor_in_executors() -> None:
    finding = frame_finding(session(8, PLAN), frame(orders(subscribe="orders")), partitions(3))
    assert (finding.state, finding.setting) == ("advice", "spark.rheostat.limits.min=3")
    assert finding.line.endswith("8 are available; with fewer Spark ends the query")


def test_two_sources_of_one_topic_count_twice() -> None:
    twice = frame(orders(subscribe="orders"), orders(subscribe="orders"))
    assert "needs 6 slots" in frame_finding(session(6, ""), twice, partitions(3)).line


@pytest.mark.parametrize(
    ("source", "count", "line"),
    [
        (orders(subscribe="orders"), None, "the partitions of orders are unknown"),
        (orders(subscribePattern="o.*"), 3, "the partitions of topics that match 'o.*' are"),
        (orders(assign="{"), 3, "the partitions of { are unknown"),
        (Leaf("rate"), 3, "the partitions of rate are unknown"),
    ],
)
def test_an_unknown_number_of_partitions_is_not_guessed(
    source: Leaf, count: int | None, line: str
) -> None:
    finding = frame_finding(session(8, PLAN), frame(source), partitions(count))
    assert (finding.state, finding.setting) == ("idle", None)
    assert finding.line.startswith(line)
    assert "with 8 shuffle partitions" in finding.line


def test_assigned_partitions_are_counted_without_the_broker() -> None:
    assigned = orders(assign='{"orders": [0, 2], "returns": [1]}')
    assert "needs 11 slots" in frame_finding(session(8, PLAN), frame(assigned)).line


@pytest.mark.parametrize("given", [5, "orders", SimpleNamespace(isStreaming=False)])
def test_anything_but_a_streaming_frame_is_refused(given: Any) -> None:
    with pytest.raises(BadInput, match="must be a streaming DataFrame"):
        frame_finding(session(8, PLAN), given)


def test_a_spark_without_the_plans_methods_is_reported() -> None:
    hidden = SimpleNamespace(isStreaming=True)
    finding = frame_finding(session(8, PLAN), hidden)
    assert finding.state == "idle"
    assert "does not show the plan" in finding.line


@pytest.mark.parametrize(
    ("plan", "counts"),
    [
        (PLAN, (8,)),
        ("+- Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=7]", (1,)),
        (
            "Exchange hashpartitioning(a#1, 5), X\n :- Exchange RoundRobinPartitioning(7), Y"
            "\n :- ReusedExchange [a#1], Exchange hashpartitioning(a#1, 5), X",
            (5, 7, 5),
        ),
        ("Exchange rangepartitioning(a#1L ASC NULLS FIRST, 12), ENSURE_REQUIREMENTS", (12,)),
        ("StreamingRelation kafka", ()),
    ],
)
def test_the_shuffles_of_a_plan_are_counted(plan: str, counts: tuple[int, ...]) -> None:
    assert shuffle_partitions(plan) == counts


def test_the_command_counts_the_partitions_at_the_broker(capsys: Any) -> None:
    cluster = Cluster()
    cluster.append("bids", 0, 1)
    settings = ("--conf", "spark.sql.shuffle.partitions=8", "--conf", "spark.executor.cores=4")
    command = ["doctor", "--json", "--real-time", "bids", "--kafka", cluster.bootstrap]
    assert run([*command, *settings, "--slots", "8"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    (slots,) = [finding for finding in findings if finding["topic"] == "slots of real-time mode"]
    assert slots["line"].startswith("a query needs 12 slots before it starts: 4 source partitions")
    assert slots["setting"] == "spark.rheostat.limits.min=3"
    assert topic_partitions({"bootstrap.servers": cluster.bootstrap}, ["bids"]) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--real-time needs the broker of its topics: --kafka host:port"),
        (("--kafka", "nowhere"), "kafka must be host:port"),
        (("--kafka", "127.0.0.1:1"), "the broker 127.0.0.1:1 did not answer, or has no topic a"),
    ],
)
def test_unusable_options_of_the_command_are_one_line(
    capsys: Any, options: Sequence[str], message: str
) -> None:
    assert run(["doctor", "--real-time", "a", *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_a_need_without_known_slots_states_the_floor() -> None:
    need = SlotNeed(sources=(("bids", 4),), shuffles=())
    assert need.finding(None, 1).setting == "spark.rheostat.limits.min=4"
