# mypy: disallow-untyped-calls=False
"""The word, the sentence and the action of a job's health."""

from dataclasses import replace

import pytest
from tests.unit.journal.test_totals import NOON_S, start

from rheostat.control.health import WORDS, health
from rheostat.journal.job_status import JobStatus
from rheostat.journal.starts import SHADOW

WELL = JobStatus(
    journal="/journals/orders",
    application="app-1",
    state="running",
    since_s=NOON_S,
    starts=1,
    start=start(t_s=NOON_S, kafka="broker:9092"),
    last_t_s=NOON_S + 100,
    age_s=2.0,
    executors=3,
    slots_per_executor=2,
    target=3,
    wanted=3,
    phase="steady",
    input_rows_per_s=100.0,
    latency_s=2.0,
    broker_up=True,
)
SHADOWED = replace(WELL, start=start(t_s=NOON_S, mode=SHADOW), wanted=5)


@pytest.mark.parametrize(
    ("status", "word", "sentence", "action"),
    [
        (WELL, "Healthy", "committed in 2.0 s", ""),
        (replace(WELL, state="dead"), "Not scaling", "process has ended", "start the job again"),
        (replace(WELL, state="silent"), "Not scaling", "makes no decisions", "log"),
        (replace(WELL, state="ended"), "Not scaling", "ended with 3 executors", ""),
        (replace(WELL, phase="failed", detail="no"), "Not scaling", "failed: no", "log"),
        (SHADOWED, "Not scaling", "5 executors recommended; it has 3", "rheostat.attach"),
        (
            replace(SHADOWED, wanted=None, target=None, executors=None),
            "Not scaling",
            "nothing is changed; its size is unknown",
            "rheostat.attach",
        ),
        (replace(WELL, halted=True), "Halted", "kill switch", "rheostat resume /journals/orders"),
        (replace(WELL, broker_up=False), "Blind", "broker:9092 does not answer", "network"),
        (replace(WELL, executors=None), "Blind", "No query is running", "Start"),
        (
            replace(
                WELL,
                start=start(t_s=NOON_S, min_executors=0),
                executors=None,
                phase="idle",
                detail="no executors between two runs (min=0)",
            ),
            "Healthy",
            "No query is running; executors are released",
            "",
        ),
        (replace(WELL, input_rows_per_s=None, latency_s=None), "Blind", "Neither", "kafka="),
        (replace(WELL, latency_s=12.5), "Late", "12.5 s; the objective is 10 s", "backlog"),
        (replace(WELL, running_batch_s=11.0), "Late", "11.0 s", "backlog"),
        (replace(WELL, latency_s=11.0, target=5, wanted=5), "Late", "11.0 s", "2 executors requ"),
        (replace(WELL, latency_s=11.0, wanted=8), "Late", "11.0 s", "guard that holds"),
        (
            replace(WELL, wanted=9, target=3, binding="ceiling: 9 executors wanted, 3 allowed"),
            "Bound",
            "Ceiling: 9 executors wanted, 3 allowed.",
            "Raise the ceiling",
        ),
        (
            replace(WELL, latency_s=20.0, wanted=9, binding="ceiling: 9 executors wanted"),
            "Late",
            "20.0 s",
            "Raise the ceiling",
        ),
        (
            replace(WELL, binding="partitions: more executors would not help"),
            "Bound",
            "Partitions",
            "rheostat state plan",
        ),
        (replace(WELL, binding="sink: more executors would not help"), "Bound", "Sink", "sink"),
        (replace(WELL, binding="the cluster: quota", wanted=None), "Bound", "quota", "capacity"),
        # A guard that keeps a larger size than wanted is no bound that the user should change.
        (
            replace(WELL, wanted=1, binding="floor: 1 executors wanted, 3 allowed"),
            "Healthy",
            "",
            "",
        ),
        (replace(WELL, wanted=1, binding="cooldown: 1 wanted"), "Healthy", "", ""),
    ],
)
def test_every_state_has_a_word_a_sentence_and_an_action(status, word, sentence, action):
    result = health(status)
    assert result.word == word
    assert result.word in WORDS
    assert sentence in result.sentence
    assert action in result.action
    assert bool(result.action) == bool(action)


def test_recent_late_rows_count_without_a_current_backlog():
    assert health(WELL, late_share=0.005).word == "Healthy"
    assert health(WELL, late_share=0.02).sentence.startswith("2.0% of the rows of the last ten")


def test_a_starting_job_is_not_blind():
    assert health(replace(WELL, state="starting", executors=None, latency_s=None)).word == "Healthy"
