"""Write the tables of docs/evidence/live-policies.md from the days that were played.

Run: rheostat lab run experiments/live-policies.yaml
     python scripts/live_policies_page.py out/lab/live-policies
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix.matrix_run import read_runs
from rheostat_lab.matrix.matrix_spec import MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import sentences, table
from rheostat_lab.matrix.prediction_table import prediction_table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence" / "live-policies.md"
SPEC = ROOT / "experiments" / "live-policies.yaml"


def parts(spec: MatrixSpec, runs: Sequence[PlayedRun]) -> dict[str, str]:
    """Return what stands between the marks of the page, by their names."""
    by_query = {query: [run for run in runs if run.query == query] for query in spec.queries}
    wanted = len(list(spec.cells()))
    claim = [f"**Claim.** On real Spark and Kafka, {len(runs)} of {wanted} days played:"]
    claim += [
        f"* **{query}.** {' '.join(sentences(played, spec.sizings()))}"
        for query, played in by_query.items()
    ]
    tables = {query: table(played, spec.sizings()) for query, played in by_query.items()}
    tables |= {"prediction": prediction_table(runs, spec.queries) or ["No day yet."]}
    told = {name: "\n".join(lines) for name, lines in tables.items()}
    return {"claim": "\n".join([claim[0], "", *claim[1:]]), **told}


def main(folder: Path) -> None:
    """Put each part between its marks."""
    spec = spec_of(MatrixSpec, SPEC, values_of(SPEC))
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts(spec, read_runs(spec, folder)).items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
