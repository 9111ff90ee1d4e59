"""Write the tables and scatter plots of an evidence page from the runs of a matrix on real Spark.

Run: rheostat lab run experiments/live-policies.yaml
     python scripts/matrix_page.py live-policies out/lab
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
from rheostat_lab.matrix.scatter_plot import scatter
from rheostat_lab.matrix.simulated_runs import simulated_runs, simulation_table

ROOT = Path(__file__).parents[1]
EVIDENCE = ROOT / "docs" / "evidence"


def parts(spec: MatrixSpec, runs: Sequence[PlayedRun]) -> dict[str, str]:
    """Return what stands between the marks of the page, by their names."""
    by_query = {query: [run for run in runs if run.query == query] for query in spec.queries}
    sizings = spec.sizings()
    wanted = len(list(spec.cells()))
    claim = [f"**Claim.** On real Spark and Kafka, {len(runs)} of {wanted} runs exist:", ""]
    claim += [
        f"* **{q}.** {' '.join(sentences(played, sizings))}" for q, played in by_query.items()
    ]
    shown = {
        query: [sizing for sizing in sizings if any(run.policy == sizing for run in played)]
        for query, played in by_query.items()
    }
    tables = {
        query: table(played, shown[query]) if played else ["No run yet."]
        for query, played in by_query.items()
    }
    tables |= {"prediction": prediction_table(list(runs), spec.queries) or ["No run yet."]}
    return {"claim": "\n".join(claim), **{name: "\n".join(text) for name, text in tables.items()}}


def main(name: str, folder: Path) -> None:
    """Put each part between its marks and draw the plots beside the page."""
    path, page = ROOT / "experiments" / f"{name}.yaml", EVIDENCE / f"{name}.md"
    spec = spec_of(MatrixSpec, path, values_of(path))
    runs = read_runs(spec, folder / name)
    text = page.read_text(encoding="utf-8")
    simulated = simulation_table(simulated_runs(spec, folder / name, runs))
    simulation = "\n".join(simulated or ["Fewer than two runs of a query."])
    for mark, part in {**parts(spec, runs), "simulation": simulation}.items():
        begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
        if begin not in text:
            continue
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")
    for query in spec.queries:
        scatter(EVIDENCE / f"{name}-{query}", [run for run in runs if run.query == query], spec.slo)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
