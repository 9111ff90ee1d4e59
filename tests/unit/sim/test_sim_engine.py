"""The engine runs the production loop tick by tick, with a reproducible journal."""

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.guards import standard_guards
from rheostat.journal.folder import FolderJournal, MemoryJournal
from rheostat.model import Limits
from rheostat.policies.rules.fixed import Fixed
from rheostat.policies.rules.threshold import Threshold
from rheostat.sim.engine import NoJournal, simulate
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.cosine import Cosine

GUARDS = standard_guards(Limits.between(1, 8))


def plant(seed: int = 1) -> SparkPlant:
    return SparkPlant(
        SparkParameters(),
        Cosine(9_000, 6_000, 500, period_s=600, hold_s=10),
        seed=seed,
    )


def test_ticks_are_one_interval_apart_and_stop_before_the_end() -> None:
    run = simulate(plant(), Fixed(), GUARDS, until_s=161.0, interval_s=15.0, start_s=100.0)
    assert [record.t_s for record in run.records] == [100.0, 115.0, 130.0, 145.0, 160.0]
    assert run.ledger.end_s == 161.0


def test_the_same_seed_writes_the_same_journal_byte_for_byte(tmp_path: Path) -> None:
    written = []
    for name, seed in (("one", 5), ("again", 5), ("other", 6)):
        journal = FolderJournal(tmp_path / name)
        simulate(
            plant(seed), Threshold(), GUARDS, until_s=1_200.0, interval_s=15.0, journal=journal
        )
        journal.close()
        written.append(
            {path.name: path.read_bytes() for path in sorted((tmp_path / name).iterdir())}
        )
    assert written[0] == written[1]
    assert written[0] != written[2]
    assert (
        len(
            next(
                content for name, content in written[0].items() if name.startswith("segment")
            ).splitlines()
        )
        == 80
    )


def test_a_given_journal_receives_the_records_and_its_kill_switch_works() -> None:
    journal = MemoryJournal()
    journal.stopped = True
    run = simulate(plant(), Threshold(), GUARDS, until_s=300.0, interval_s=30.0, journal=journal)
    assert run.records == ()
    assert [record.rescaling.phase for record in journal.records] == ["halted"] * 10
    assert run.ledger.targets.changes(0.0) == 0


def test_a_run_without_a_journal_has_the_same_result() -> None:
    kept, dropped = (
        simulate(plant(), Threshold(), GUARDS, until_s=900.0, interval_s=15.0, journal=j)
        for j in (None, NoJournal())
    )
    assert dropped.records == ()
    assert dropped.ledger.committed_rows == kept.ledger.committed_rows
    assert dropped.ledger.targets.values.tolist() == kept.ledger.targets.values.tolist()


@pytest.mark.parametrize(
    ("until_s", "interval_s"),
    [(0.0, 15.0), (100.0, 0.0), (float("inf"), 15.0), (100.0, float("nan"))],
)
def test_a_run_without_length_or_ticks_is_rejected(until_s: float, interval_s: float) -> None:
    with pytest.raises(BadInput):
        simulate(plant(), Fixed(), GUARDS, until_s=until_s, interval_s=interval_s)
