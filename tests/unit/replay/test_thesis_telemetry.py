import shutil
from pathlib import Path

import pytest

from rheostat.model import Observation
from rheostat.replay.recording import packaged, read

HEADER = "timestamp,input_rate,seconds,minutes,backpressure,busy_time,CPU_load,idle_time,lag,latency,taskmanager,throughput"  # noqa: E501
ROW = "1648144119,50117.5,15,0.25,9.5,0.1,0.9,0.7,1492593.0,7.1,8,11193.5"
OBSERVATION = Observation(
    t_s=1648144119.0,
    executors=8,
    slots_per_executor=1,
    input_rows_per_s=50117.5,
    processed_rows_per_s=11193.5,
    output_rows_per_s=11193.5,
    lag_rows=1492593.0,
    lag_s=7.1,
    busy=0.1,
    idle=0.7,
    cpu=0.9,
    backpressure_ms_per_s=9.5,
)


def the_only(path: Path) -> Observation:
    (moments,) = read(path).values()
    return moments[0].observation


def test_a_row_of_the_thesis_is_converted(tmp_path):
    (tmp_path / "a.csv").write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")
    assert the_only(tmp_path / "a.csv") == OBSERVATION


def test_row_numbers_are_ignored(tmp_path):
    (tmp_path / "a.csv").write_text(
        f",index,datetime,{HEADER}\n0,0,2022-03-24,{ROW}\n", encoding="utf-8"
    )
    assert the_only(tmp_path / "a.csv") == OBSERVATION


def test_a_registration_gap_and_a_non_positive_wait_are_absent(tmp_path):
    for wait in ("-0.001", "0.0"):
        (tmp_path / "a.csv").write_text(
            f"{HEADER}\n{ROW.replace(',7.1,8,', f',{wait},0,')}\n", encoding="utf-8"
        )
        observation = the_only(tmp_path / "a.csv")
        assert (observation.executors, observation.lag_s) == (None, None)


def test_query_3_has_no_processing_rate(tmp_path):
    copied = Path(shutil.copy(packaged()["query-3_HPA_50"], tmp_path / "query-3_copied.csv"))
    for path in (packaged()["query-3_HPA_50"], copied):
        (moments,) = read(path).values()
        assert {moment.observation.processed_rows_per_s for moment in moments} == {None}
        assert max(moment.observation.output_rows_per_s or 0.0 for moment in moments) > 70_000


@pytest.mark.parametrize("name", ["query-1_HPA_50", "query-11_HPA_90"])
def test_a_recording_has_561_moments_at_15_s(name):
    (moments,) = read(packaged()[name]).values()
    times = [moment.observation.t_s for moment in moments]
    assert (len(times), times[-1] - times[0], times[1] - times[0]) == (561, 8400.0, 15.0)
