"""Runs a repartition by its table: observes, takes the step whose event holds, records it.

Nothing is remembered but the journal, so a new runner resumes an interrupted repartition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.protocols.transition_table import Transition
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.log_entry import commit_entry, entry_partitions
from rheostat.repartition.protocol.repartition_facts import (
    ABSENT,
    OTHERS,
    OURS,
    Facts,
    differences,
    events,
)
from rheostat.repartition.protocol.repartition_log import RepartitionLog, RepartitionState, Written
from rheostat.repartition.protocol.repartition_protocol import OPEN_NEW, OPEN_OLD, REPARTITION
from rheostat.repartition.protocol.sink_log import SinkLog
from rheostat.repartition.protocol.staging import Staging
from rheostat.repartition.state_engine import Progress, Rewrite, Rewriter, StateVersion

TRIES = 3
"""How often an order without effect is repeated: then another process changes the same files."""

ProgressCallback = Callable[[str, int, int], None]
"""Called with a phase, the tasks that are done and the number of tasks."""


def quiet(phase: str, done: int, total: int) -> None:
    """Report nothing."""


class RepartitionRunner:
    """One repartition of a checkpoint, continued from the state in its journal.

    ``clock`` gives seconds since 1970.
    """

    def __init__(
        self,
        checkpoint: Path,
        state: RepartitionState,
        *,
        disk: Disk,
        clock: Callable[[], float],
        on_progress: ProgressCallback = quiet,
    ) -> None:
        self.state = state
        self._checkpoint = checkpoint
        self._disk = disk
        self._clock = clock
        self._on_progress = on_progress
        self._journal = RepartitionLog(checkpoint, disk)
        self._staging = Staging(checkpoint, disk)

    def run(self, rewriter: Rewriter, source: StateVersion) -> RepartitionState:
        """Go on until the checkpoint has its new number, or is as it was before; ``source`` is the
        state that is rewritten.

        An error of the work itself sends the repartition back, and is raised when that is done.
        """
        try:
            return self._run(back=False, write=lambda: self.write(rewriter, source))
        except RheostatError as failed:
            self.rollback(str(failed))
            raise

    def rollback(self, reason: str) -> RepartitionState:
        """Go back to the old number, from any phase; stays where it is when the query has gone on
        with the new one.
        """
        self.state = replace(self.state, reason=reason)
        return self._run(back=True, write=_unwanted)

    @property
    def staged(self) -> Path:
        """Where the new state is written."""
        return self._staging.folder

    def look(self, back: bool) -> Facts:
        """Return what the checkpoint shows at this moment."""
        plan, written = self.state.plan, self.state.written
        offsets = self._checkpoint / "offsets"
        files = written.files if written else ()
        in_place = len(self._staging.in_place(files))
        guard = _whose_guard(offsets, plan.new_batch, plan.guard)
        lock = self._whose_number(offsets, guard)
        # Two entries of the commit log may be the same text; the offset log shows whose it is.
        commit = self._whose_commit() if lock == OURS else ABSENT
        return Facts(
            back=back,
            equal=written is not None and not differences(written.before, written.after),
            lock=lock,
            guard=guard,
            commit=commit,
            in_place=in_place,
            unplaced=len(files) - in_place,
        )

    def _whose_number(self, offsets: Path, guard: str) -> str:
        """Return who wrote the batch with the repartition's number.

        Spark deletes old entries: if that one is gone and there are later ones, a query that
        continued with the old number of partitions had taken it.
        """
        plan, phase = self.state.plan, self.state.phase
        whose = _whose(offsets / str(plan.new_batch), plan.lock)
        if whose != ABSENT or guard != OTHERS or phase in OPEN_NEW:
            return whose
        oldest = offsets / str(min(_batches_after(offsets, plan.new_batch)))
        with_old = phase in OPEN_OLD or entry_partitions(oldest) == plan.partitions_before
        return OTHERS if with_old else whose

    def _run(self, back: bool, write: Callable[[], Written]) -> RepartitionState:
        orders: dict[str, Callable[[], None]] = {
            "Lock": self._lock,
            "Place": self._place,
            "Commit": self._commit_batch,
            "Reopen": self._reopen,
            "Withdraw": self._withdraw,
            "Unlock": self._unlock,
            "Tidy": self._tidy,
        }
        repeated: list[Transition] = []
        while True:
            step = REPARTITION.after(self.state.phase, events(self.look(back)))
            if step is None:
                return self.state
            repeated = [*repeated, step] if step in repeated else [step]
            if len(repeated) > TRIES:
                raise RheostatError(
                    f"{self._checkpoint} is being changed by another process:"
                    f" {step.order} had no effect"
                )
            if step.order == "Write":
                self._enter(step.to, write())
                continue
            if step.order:
                orders[step.order]()
            if step.to != self.state.phase:
                self._enter(step.to)
            if step.to == REPARTITION.end:
                return self.state

    def _enter(self, phase: str, written: Written | None = None) -> None:
        now, reason = self._clock(), self.state.reason
        if phase == "withdrawing" and not reason:
            reason = self._why()
        self._journal.note(phase, now, written, reason)
        self.state = replace(
            self.state,
            phase=phase,
            written=written or self.state.written,
            reason=reason,
            times_s={**self.state.times_s, phase: now},
        )
        self._on_progress(phase, 0, 0)

    def _why(self) -> str:
        """Return why a repartition is rolled back without a request."""
        written = self.state.written
        wrong = differences(written.before, written.after) if written else ()
        return "; ".join(wrong) or "the query has planned a batch meanwhile"

    def write(self, rewriter: Rewriter, source: StateVersion) -> Written:
        """Write the new state where no query looks, and count it."""
        plan, location = self.state.plan, str(self._staging.folder)
        self._staging.prepare()
        source = replace(source, checkpoint=location)
        wanted = Rewrite(
            source=source,
            batch=plan.new_batch,
            partitions=plan.partitions,
            notes=str(self._staging.notes),
        )
        done = rewriter.rewrite(wanted, self._progress)
        commit = commit_entry(
            (self._checkpoint / "commits" / str(plan.batch)).read_text("utf-8"), done.ids
        )
        self._staging.write_entries(plan.new_batch, plan.lock, commit)
        settled = StateVersion(
            checkpoint=location,
            batch=plan.new_batch,
            partitions=plan.partitions,
            settings=source.settings,
            ids=done.ids,
        )
        return Written(
            files=self._staging.new_files(),
            before=done.before,
            after=rewriter.measure(settled),
            commit=commit,
        )

    @property
    def _progress(self) -> Progress:
        return lambda done, total: self._on_progress("begun", done, total)

    def _whose_commit(self) -> str:
        entry = self._entry("commits", self.state.plan.new_batch)
        return _whose(entry, self.state.written.commit if self.state.written else "")

    def _entry(self, log: str, batch: int) -> Path:
        return self._checkpoint / log / str(batch)

    def _lock(self) -> None:
        self._disk.flush()
        self._disk.write_entry(
            self._entry("offsets", self.state.plan.new_batch), self.state.plan.lock
        )

    def _place(self) -> None:
        files = self.state.written.files if self.state.written else ()
        for number, file in enumerate(self._staging.unplaced(files), 1):
            self._staging.place(file)
            self._on_progress("locked", number, len(files))
        self._disk.flush()

    def _commit_batch(self) -> None:
        if self.state.written:
            self._disk.write_entry(
                self._entry("commits", self.state.plan.new_batch), self.state.written.commit
            )

    def _reopen(self) -> None:
        plan = self.state.plan
        if self._disk.write_entry(self._entry("offsets", plan.new_batch + 1), plan.guard) or (
            self.look(back=True).guard == OURS
        ):
            self._disk.remove(self._entry("commits", plan.new_batch))

    def _withdraw(self) -> None:
        files = self.state.written.files if self.state.written else ()
        placed = self._staging.in_place(files)
        for number, file in enumerate(placed, 1):
            self._staging.withdraw(file)
            self._on_progress("withdrawing", number, len(placed))
        self._disk.flush()

    def _tidy(self) -> None:
        """Before the staged files go: a sink's log learns of a batch that the query has not run."""
        plan = self.state.plan
        if plan.sink and self.state.phase != "unlocked":
            SinkLog(self._output(plan.sink), self._disk).add_empty(plan.new_batch)
        self._staging.clear()

    def _output(self, sink: str) -> Path:
        """Return the folder of a sink on the file system of the checkpoint."""
        return Path(sink)

    def _unlock(self) -> None:
        """The guard first: with the batch before it gone, Spark could not even say what it is. The
        lock last: a query that finds the number free, and its sink's log with it, writes nothing.
        """
        plan, facts = self.state.plan, self.look(back=True)
        if facts.guard == OURS:
            self._disk.remove(self._entry("offsets", plan.new_batch + 1))
        if facts.lock == OURS:
            if plan.sink:
                SinkLog(self._output(plan.sink), self._disk).take_out(plan.new_batch)
            self._disk.remove(self._entry("offsets", plan.new_batch))


def _unwanted() -> Written:
    raise AssertionError("on its way back a repartition writes no state")


def _whose(entry: Path, ours: str) -> str:
    if not entry.is_file():
        return ABSENT
    return OURS if entry.read_text(encoding="utf-8", errors="replace") == ours else OTHERS


def _whose_guard(offsets: Path, batch: int, guard: str) -> str:
    """Return who wrote the entries after the repartition's batch."""
    later = _batches_after(offsets, batch)
    if not later:
        return ABSENT
    return _whose(offsets / str(batch + 1), guard) if later == [batch + 1] else OTHERS


def _batches_after(offsets: Path, batch: int) -> list[int]:
    return [
        int(path.name)
        for path in offsets.glob("*")
        if path.name.isdecimal() and int(path.name) > batch
    ]
