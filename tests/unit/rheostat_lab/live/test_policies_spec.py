"""Which days a specification asks for, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rheostat.cli.app import run
from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.live.day_process import command
from rheostat_lab.live.policies_spec import PoliciesSpec

ROOT = Path(__file__).parents[4]
GOOD = {
    "experiment": "policies",
    "queries": ["q1", "q11"],
    "policies": ["predictive", "hpa"],
    "seeds": [7, 8],
}


def test_the_kept_specification_is_ten_ways_to_size_two_queries_on_three_seeds() -> None:
    path = ROOT / "experiments" / "live-policies.yaml"
    spec = spec_of(PoliciesSpec, path, values_of(path))
    assert len(list(spec.cells())) == 60
    assert spec.policies[0] == "predictive"
    assert (spec.seconds, spec.cluster) == (240.0, "standalone")
    assert (spec.peak, spec.ramp_share) == (2600, 0.12)


def test_a_policy_may_have_parameters_which_its_day_has_and_its_folder_names() -> None:
    spec = PoliciesSpec(
        experiment="policies",
        queries=("q1",),
        policies=(
            "predictive",
            "varga-v2 cooldown_s=10 window_s=20",
            "hpa 'metrics=lag_rows 500 each'",
        ),
        seeds=(7,),
    )
    cells = list(spec.cells())
    assert [cell.name for cell in cells[1:]] == [
        "q1-varga-v2-cooldown_s=10-window_s=20-7",
        "q1-hpa-metrics=lag_rows-500-each-7",
    ]
    demo = spec.demo(cells[1], Path("out"))
    assert (demo.policy, demo.parameters) == ("varga-v2", {"cooldown_s": "10", "window_s": "20"})
    assert command(demo)[-4:] == ["--set", "cooldown_s=10", "--set", "window_s=20"]


def test_days_are_ordered_seed_by_seed() -> None:
    spec = PoliciesSpec(
        experiment="policies", queries=("q1", "q11"), policies=("predictive", "hpa"), seeds=(7, 8)
    )
    assert [cell.name for cell in spec.cells()] == [
        "q1-predictive-7",
        "q1-hpa-7",
        "q11-predictive-7",
        "q11-hpa-7",
        "q1-predictive-8",
        "q1-hpa-8",
        "q11-predictive-8",
        "q11-hpa-8",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"experiment": "speed"}, "experiment must be one of downtime"),
        ({"experiment": None}, "must say experiment: downtime"),
        ({"experiment": [1, 2]}, "but it is (1, 2)"),
        ({"experiment": {"a": 1}}, "but it is {'a': 1}"),
        ({"query": ["q1"]}, "has 'query'; it may have cluster"),
        ({"queries": "q1"}, "queries must be a list of names, as [a, b], but it is 'q1'"),
        ({"queries": ["q2"]}, "there is no query 'q2'"),
        ({"queries": []}, "queries must be a list"),
        ({"policies": ["magic"]}, "unknown policy 'magic'"),
        ({"policies": ["hpa speed"]}, "written name=value, such as factor=0.3"),
        ({"policies": ["hpa speed=1"]}, "speed"),
        ({"policies": ["hpa 'metrics=cpu 0.7"]}, "a quote without its end"),
        ({"policies": ["hpa", "hpa"]}, "policies has 'hpa' twice"),
        ({"seeds": ["seven"]}, "seeds must be whole numbers, but one is 'seven'"),
        ({"seeds": [True]}, "but one is True"),
        ({"seeds": [-1]}, "seed must be between 0"),
        ({"seconds": "long"}, "seconds must be a number, but it is 'long'"),
        ({"seconds": 5}, "too short"),
        ({"seconds": float("nan")}, "seconds must be a number"),
        ({"peak": "high"}, "peak must be a number, but it is 'high'"),
        ({"peak": -1}, "peak"),
        ({"ramp_share": 2}, "ramp_share must be above 0"),
        ({"cluster": "mesos"}, "mesos"),
        ({"cluster": 3}, "must be one of standalone, yarn, kubernetes, but it is 3"),
    ],
)
def test_a_wrong_specification_is_refused_in_one_line_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], said: str
) -> None:
    path, out = tmp_path / "spec.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump({**GOOD, **change}))
    assert run(["lab", "run", str(path), "--out", str(out)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1
    assert not out.exists()


def test_what_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("experiment: policies\nqueries: [q1]\npolicies: [hpa]\n")
    assert run(["lab", "run", str(path)]) == 2
    assert "must say seeds" in capsys.readouterr().err
