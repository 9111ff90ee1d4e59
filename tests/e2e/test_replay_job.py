"""A replay as a Spark job equals a plain replay."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rheostat.cli.app import run
from rheostat.errors import BadInput
from rheostat.model import Limits
from rheostat.replay.recording import packaged, read
from rheostat.replay.replayer import Request, as_line, lines, read_frame, replay, replay_job

pytestmark = pytest.mark.e2e

NAMES = ("query-11_vargav1_50", "query-1_HPA_50", "query-3_HPA_90")
REQUEST = Request(policy="hpa", parameters={"metrics": "cpu 0.5"}, limits=Limits.between(1, 16))
STAGES = '"[{""name"": ""map"", ""upstream"": [""bids""], ""rows_in"": 90, ""busy_s"": 0.5}]"'


@pytest.fixture(scope="module")
def spark(local_spark: SparkSession) -> SparkSession:
    return local_spark


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts of three recordings in one table, as three applications."""
    path = tmp_path_factory.mktemp("recordings") / "three.csv"
    header, *_ = packaged()[NAMES[0]].read_text(encoding="utf-8").splitlines()
    rows = [
        f"{name},{row}"
        for name in NAMES
        for row in packaged()[name].read_text(encoding="utf-8").splitlines()[1:121]
    ]
    path.write_text("\n".join([f"application,{header}", *rows]) + "\n", encoding="utf-8")
    return path


def plain(path: Path, request: Request) -> list[str]:
    return sorted(as_line(answer, several=True) for answer in replay(read(path), request))


def test_a_spark_replay_equals_a_plain_replay_for_any_row_order(
    spark: SparkSession, three: Path, tmp_path: Path
) -> None:
    header, *rows = three.read_text(encoding="utf-8").splitlines()
    random.Random(7).shuffle(rows)
    (tmp_path / "three.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    for request in (
        REQUEST,
        Request(policy="hpa", interval_s=60.0, initial=4, limits=Limits.between(1, 16)),
    ):
        answers = list(
            lines(replay_job(read_frame(spark, tmp_path / "three.csv"), request, "three.csv"))
        )
        assert sorted(answers) == plain(three, request)
        assert len(answers) in (360, 90)


def test_nested_columns_of_csv_and_parquet_are_equivalent(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [f'a,{t},2,100,"{{""bids"": 100.0}}",{STAGES}' for t in range(3)]
    (tmp_path / "a.csv").write_text(
        "\n".join(["application,t_s,executors,input_rows_per_s,inputs,stages", *rows]) + "\n",
        encoding="utf-8",
    )
    request = Request(policy="ds2")
    frame = read_frame(spark, tmp_path / "a.csv")
    expected = plain(tmp_path / "a.csv", request)
    assert "pi map" in expected[0]
    assert list(lines(replay_job(frame, request))) == expected
    parsed = (
        "application, double(t_s) t_s, int(executors) executors, double(input_rows_per_s)"
        " input_rows_per_s"
    )
    nested = [
        "from_json(inputs, 'map<string,double>') inputs",
        (
            "from_json(stages,"
            " 'array<struct<name:string,upstream:array<string>,rows_in:double,busy_s:double>>')"
            " stages"
        ),
    ]
    frame.selectExpr(*parsed.split(", "), *nested).write.parquet(str(tmp_path / "parquet"))
    assert list(lines(replay_job(read_frame(spark, tmp_path / "parquet"), request))) == expected
    assert plain(tmp_path / "parquet", request) == expected


def test_a_rejected_row_is_reported_in_one_line(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "application,t_s,executors,busy\na,1,2,0.5\nb,1,2,0.5\nb,2,2,7\n", encoding="utf-8"
    )
    with pytest.raises(
        BadInput, match=r"application b, t_s 2: busy is a share of time, 0 to 1, but it is 7"
    ):
        list(lines(replay_job(read_frame(spark, tmp_path / "a.csv"), REQUEST, "a.csv")))


def test_invalid_tables_are_rejected_before_the_job_starts(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="no column application"):
        replay_job(read_frame(spark, packaged()["query-1_HPA_50"]), REQUEST)
    with pytest.raises(BadInput, match="unknown column 'bsy'"):
        replay_job(
            spark.createDataFrame([("a", 1.0, 0.5)], "application string, t_s double, bsy double"),
            REQUEST,
        )
    (tmp_path / "a.jsonl").write_text('{"schema": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="is a journal"):
        read_frame(spark, tmp_path / "a.jsonl")


def test_the_command_prints_the_lines_of_the_job(
    three: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            [
                "replay",
                str(three),
                "--policy",
                "hpa",
                "--set",
                "metrics=cpu 0.5",
                "--max",
                "16",
                "--spark",
                "local[2]",
            ]
        )
        == 0
    )
    assert sorted(capsys.readouterr().out.splitlines()) == plain(three, REQUEST)
