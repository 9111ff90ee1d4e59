"""Runs a repartition by its table: observe, take the row of the current event, execute its order,
record the phase.

Only the log is kept, so a new runner can resume an interrupted repartition.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.protocols.repartition import (
    ABSENT,
    OPEN_NEW,
    OPEN_OLD,
    OTHERS,
    OURS,
    REPARTITION,
    RepartitionFacts,
    RepartitionOrder,
)
from rheostat.protocols.transition_table import name_of
from rheostat.repartition.checkpoint import missing_file, read_checkpoint
from rheostat.repartition.repartition_log import (
    RepartitionLog,
    RepartitionState,
    StagedFile,
    Written,
    commit_entry,
    entry_partitions,
)
from rheostat.repartition.staging import STAGED, SinkLog, Staging
from rheostat.repartition.state_engine import Rewrite, Rewriter, StateVersion, differences
from rheostat.storage.file_system import FileSystem, numbered
from rheostat.storage.local_files import LocalFileSystem

TRIES = 3
"""Number of repetitions of an order without effect, after which another process must be
interfering."""

ProgressCallback = Callable[[str, int, int], None]
"""Called with a phase, the number of completed tasks and the number of all tasks."""


def quiet(phase: str, done: int, total: int) -> None:
    """Report nothing."""


class RepartitionRunner:
    """One repartition of a checkpoint, continued from the state in its journal."""

    def __init__(
        self,
        checkpoint: str,
        state: RepartitionState,
        *,
        files: FileSystem,
        on_progress: ProgressCallback = quiet,
    ) -> None:
        self.state = state
        self._checkpoint = checkpoint
        self._files = files
        self._on_progress = on_progress
        self._journal = RepartitionLog(checkpoint, files)
        self._staging = Staging(checkpoint, files)

    def run(self, rewriter: Rewriter, source: StateVersion) -> RepartitionState:
        """Run until the checkpoint has its new number or is unchanged; ``source`` is the state to
        rewrite.

        An error in the rewrite rolls the repartition back and is raised afterwards.
        """
        try:
            return self._run(back=False, write=lambda: self.write(rewriter, source))
        except RheostatError as failed:
            self.rollback(str(failed))
            raise

    def rollback(self, reason: str) -> RepartitionState:
        """Return to the old number from any phase, unless the query continued with the new one."""
        self.state = replace(self.state, reason=reason)
        return self._run(back=True, write=_unwanted)

    def look(self, back: bool) -> RepartitionFacts:
        """Return the present facts about the checkpoint."""
        plan, written = self.state.plan, self.state.written
        numbers = numbered(self._files, f"{self._checkpoint}/offsets")
        later = [number for number in numbers if number > plan.new_batch]
        guard = self._whose_guard(later)
        lock = self._whose_number(later, guard)
        # Two entries of the commit log may be equal; the offset log shows who wrote them.
        ours = written.commit if written else ""
        commit = self._whose("commits", plan.new_batch, ours) if lock == OURS else ABSENT
        in_place = len(self._in_place(lock))
        return RepartitionFacts(
            back=back,
            equal=written is not None and not differences(written.before, written.after),
            lock=lock,
            guard=guard,
            commit=commit,
            in_place=in_place,
            unplaced=len(self._new_files) - in_place,
        )

    @property
    def _new_files(self) -> tuple[StagedFile, ...]:
        return self.state.written.files if self.state.written else ()

    def _in_place(self, lock: str) -> tuple[StagedFile, ...]:
        """Return the new files that are in place; ``lock`` is the owner of the number."""
        taken_ns = None
        if lock == OTHERS:
            entry = self._files.status(self._entry("offsets", self.state.plan.new_batch))
            taken_ns = entry.changed_ns if entry else 0
        return self._staging.in_place(self._new_files, taken_ns)

    def _whose_guard(self, later: list[int]) -> str:
        """Return the writer of the entries after the batch of the repartition."""
        batch = self.state.plan.new_batch + 1
        if not later:
            return ABSENT
        return self._whose("offsets", batch, self.state.plan.guard) if later == [batch] else OTHERS

    def _whose(self, log: str, batch: int, ours: str) -> str:
        entry = self._files.read_text(self._entry(log, batch))
        if entry is None:
            return ABSENT
        return OURS if entry == ours else OTHERS

    def _whose_number(self, later: list[int], guard: str) -> str:
        """Return the writer of the batch with the repartition's number.

        Spark deletes old entries: if this entry does not exist but later ones do, a query that
        continued with the old number of partitions had used its number.
        """
        plan, phase = self.state.plan, self.state.phase
        whose = self._whose("offsets", plan.new_batch, plan.lock)
        if whose != ABSENT or guard != OTHERS or phase in OPEN_NEW:
            return whose
        oldest = entry_partitions(self._files, self._entry("offsets", min(later)))
        with_old = phase in OPEN_OLD or oldest == plan.partitions_before
        return OTHERS if with_old else whose

    def _run(self, back: bool, write: Callable[[], Written]) -> RepartitionState:
        last, count = None, 0
        while row := REPARTITION.step(self.state.phase, self.look(back)):
            last, count = row, count + 1 if row == last else 1
            if count > TRIES:
                raise RheostatError(
                    f"{self._checkpoint} is being changed by another process:"
                    f" {name_of(row.order) or name_of(row.event)} had no effect"
                )
            written = self._carry_out(row.order, write)
            if row.to != self.state.phase:
                self._enter(row.to, written)
            if row.to == REPARTITION.end:
                break
        return self.state

    def _carry_out(
        self, order: RepartitionOrder | None, write: Callable[[], Written]
    ) -> Written | None:
        match order:
            case RepartitionOrder.WRITE:
                return write()
            case RepartitionOrder.LOCK:
                self._lock()
            case RepartitionOrder.PLACE:
                self._place()
            case RepartitionOrder.COMMIT:
                self._commit_batch()
            case RepartitionOrder.REOPEN:
                self._reopen()
            case RepartitionOrder.WITHDRAW:
                self._withdraw()
            case RepartitionOrder.UNLOCK:
                self._unlock()
            case RepartitionOrder.TIDY:
                self._tidy()
        return None

    def _enter(self, phase: str, written: Written | None = None) -> None:
        now, reason = time.time(), self.state.reason
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
        """Write the new state to a location that no query reads, and count it."""
        if isinstance(self._files, LocalFileSystem):
            return self._write_here(self._files, rewriter, source)
        self._files.delete(self._staging.folder)  # left by an interrupted upload
        copy = Path(tempfile.mkdtemp(prefix="rheostat-state-"))
        try:
            return self._write_there(copy, rewriter, source)
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _write_there(self, copy: Path, rewriter: Rewriter, source: StateVersion) -> Written:
        """Write the new state into a copy of a remote checkpoint, and upload it."""
        for part in ("offsets", "commits", "state"):
            self._files.download(f"{self._checkpoint}/{part}", copy / part)
        here = LocalFileSystem()
        missing = missing_file(read_checkpoint(str(copy), here))
        if missing:
            raise RheostatError(f"{missing} is missing: restore it from a backup, then again")
        runner = RepartitionRunner(str(copy), self.state, files=here, on_progress=self._on_progress)
        written = runner.write(rewriter, source)
        uploaded = []
        for number, file in enumerate(written.files, 1):
            uploaded.append(self._staging.upload(f"{copy}/{STAGED}", file))
            self._on_progress("begun", number, len(written.files))
        return replace(written, files=tuple(uploaded))

    def _write_here(
        self, disk: LocalFileSystem, rewriter: Rewriter, source: StateVersion
    ) -> Written:
        plan, location = self.state.plan, self._staging.folder
        self._staging.prepare(disk)
        source = replace(source, checkpoint=location)
        wanted = Rewrite(
            source=source,
            batch=plan.new_batch,
            partitions=plan.partitions,
            notes=self._staging.notes,
        )
        done = rewriter.rewrite(wanted, lambda done, total: self._on_progress("begun", done, total))
        commit = commit_entry(disk.read_text(self._entry("commits", plan.batch)) or "", done.ids)
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

    def _entry(self, log: str, batch: int) -> str:
        return f"{self._checkpoint}/{log}/{batch}"

    def _lock(self) -> None:
        self._files.flush()
        self._files.create(self._entry("offsets", self.state.plan.new_batch), self.state.plan.lock)

    def _place(self) -> None:
        placed = {*self._in_place(OURS)}
        for number, file in enumerate(self._new_files, 1):
            if file not in placed:
                self._staging.place(file)
            self._on_progress("locked", number, len(self._new_files))
        self._files.flush()

    def _commit_batch(self) -> None:
        if self.state.written:
            self._files.create(
                self._entry("commits", self.state.plan.new_batch), self.state.written.commit
            )

    def _reopen(self) -> None:
        plan = self.state.plan
        if self._files.create(self._entry("offsets", plan.new_batch + 1), plan.guard) or (
            self.look(back=True).guard == OURS
        ):
            self._files.delete(self._entry("commits", plan.new_batch))
            self._files.flush()

    def _withdraw(self) -> None:
        placed = self._in_place(self.look(back=True).lock)
        for number, file in enumerate(placed, 1):
            self._staging.withdraw(file)
            self._on_progress("withdrawing", number, len(placed))
        self._files.flush()

    def _tidy(self) -> None:
        """Add the batch, which the query skips, to a sink's log; then delete the staged files."""
        plan = self.state.plan
        if plan.sink and self.state.phase != "unlocked":
            SinkLog(self._files, plan.sink).add_empty(plan.new_batch)
        self._staging.clear()

    def _unlock(self) -> None:
        """Remove the guard first: without the batch before it, Spark could not identify it. Remove
        the lock last: a query that finds the number free also finds it free in its sink's log.
        """
        plan, facts = self.state.plan, self.look(back=True)
        if facts.guard == OURS:
            self._files.delete(self._entry("offsets", plan.new_batch + 1))
        if facts.lock == OURS:
            if plan.sink:
                SinkLog(self._files, plan.sink).take_out(plan.new_batch)
            self._files.flush()
            self._files.delete(self._entry("offsets", plan.new_batch))
        self._files.flush()


def _unwanted() -> Written:
    raise AssertionError("on its way back a repartition writes no state")
