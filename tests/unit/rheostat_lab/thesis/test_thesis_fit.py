"""The fit reads only the nine HPA recordings, and recovers known parameters."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.replay.recording import packaged
from rheostat_lab.thesis.fit import STARTS, fit
from rheostat_lab.thesis.fit_course import Search
from rheostat_lab.thesis.fitted_parameters import fitted

SHORT = Search(random=1, steps=0, factors=3)
ROWS = 50

SPY = """
import sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from pathlib import Path
from rheostat_lab.thesis.fit import fit
from rheostat_lab.thesis.fit_course import Search
fit(Path(sys.argv[1]), ["1"], Search(random=1, steps=0, factors=3))
print("\\n".join(sorted({name for name in opened if name.endswith((".csv", "tables.json", "parameters.json"))})))
"""  # noqa: E501


def beginnings(folder: Path, only: str = "") -> Path:
    """Copy the first quarter of an hour of the recordings whose names contain ``only``."""
    folder.mkdir()
    for name, path in packaged().items():
        if only in name:
            with path.open() as lines:
                (folder / path.name).write_text("".join(islice(lines, ROWS)))
    return folder


def test_the_fit_opens_only_the_hpa_recordings(tmp_path: Path) -> None:
    folder = beginnings(tmp_path / "all")
    process = subprocess.run(
        [sys.executable, "-c", SPY, str(folder)], capture_output=True, text=True, check=True
    )
    assert {Path(line).name for line in process.stdout.split()} == {
        f"query-1_HPA_{target}.csv" for target in (50, 70, 90)
    }


def test_the_fit_does_not_depend_on_held_out_recordings(tmp_path: Path) -> None:
    full, lean = beginnings(tmp_path / "all"), beginnings(tmp_path / "hpa", "HPA")
    assert len(list(lean.iterdir())) == 9
    assert fit(full, ["1"], SHORT) == fit(lean, ["1"], SHORT)


def test_the_package_contains_parameters_for_every_query() -> None:
    jobs = fitted()
    assert set(jobs) == set(STARTS)
    assert all(job.shuffled == STARTS[query][0].shuffled for query, job in jobs.items())


def test_unknown_parameters_are_reported(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(
        json.dumps({"queries": {query: [{"rate_per_s": 1.0, "speed": 2}] for query in STARTS}})
    )
    with pytest.raises(BadInput, match=r"wrong.json does not hold the parameters.*speed"):
        fitted(wrong)
