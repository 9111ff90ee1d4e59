"""The parts of the time of micro-batches, by Spark's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rheostat_lab.report.finished_run import CommittedBatch

PARTS = {
    "addBatch": "reading, computing and writing the rows: the tasks on the executors",
    "queryPlanning": "making the plan of the batch, in the driver",
    "latestOffset": "asking the source for its newest offsets",
    "getBatch": "making the source's rows of these offsets, without reading them",
    "walCommit": "writing the batch's offsets before it runs",
    "commitOffsets": "writing that the batch is done",
}
"""The parts in the order in which a plot stacks them, with their descriptions."""

REST = "rest"
TOTAL = "triggerExecution"


@dataclass(frozen=True, slots=True)
class Part:
    """A part over all batches: its mean, its longest time, and its share of all batch time."""

    name: str
    mean_s: float
    longest_s: float
    share: float
    meaning: str


def parts_of(batch: CommittedBatch) -> dict[str, float]:
    """Return the seconds of each part and of the rest; empty if they are unknown."""
    known = {name: batch.parts_s[name] for name in PARTS if name in batch.parts_s}
    if not known:
        return {}
    total_s = batch.parts_s.get(TOTAL, batch.commit_s - batch.start_s)
    # Parts are in whole milliseconds, so their sum may slightly exceed the batch.
    return known | {REST: max(0.0, total_s - sum(known.values()))}


def parts(batches: Sequence[CommittedBatch]) -> list[Part]:
    """Return the parts over all batches with known parts, in the order of ``PARTS``."""
    known = [split for split in map(parts_of, batches) if split]
    total = sum(sum(split.values()) for split in known)
    if total <= 0:
        return []
    names = [name for name in (*PARTS, REST) if any(name in split for split in known)]
    return [
        Part(
            name=name,
            mean_s=(spent := sum(split.get(name, 0.0) for split in known)) / len(known),
            longest_s=max(split.get(name, 0.0) for split in known),
            share=spent / total,
            meaning=PARTS.get(name, "time that Spark attributes to no part"),
        )
        for name in names
    ]


def longest(batches: Sequence[CommittedBatch]) -> str:
    """Return a description of the longest batch with its largest part; empty without batches."""
    if not batches:
        return ""
    batch = max(batches, key=lambda batch: batch.commit_s - batch.start_s)
    text = f"the longest batch took {batch.commit_s - batch.start_s:.1f} s"
    split = parts_of(batch)
    if not split:
        return text
    name = max(split, key=lambda name: split[name])
    return f"{text}, {split[name]:.1f} s of it {name}"
