"""What really happened in a recorded run, in the form in which a simulated run tells it."""

from __future__ import annotations

from itertools import pairwise

from rheostat.model import Observation
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.bookkeeping import Book
from rheostat.sim.fitting.recorded_run import Recorded, end_of_batch_s, ended, load_of
from rheostat.sim.plant import Ledger


def recorded_ledger(run: Recorded) -> Ledger:
    """Return the ledger of a recorded run: arrivals, lag, batches and sizes.

    Fails when: several batches end between two observations; their rows count as committed one
    batch earlier.
    """
    arrivals = Arrivals(load_of(run))
    book = Book(arrivals, 0.0, run.executors_at(0.0), batches=True)
    done = 0.0
    for early, late in pairwise(run.observations):
        _note_sizes(book, late)
        if late.lag_rows is None or not ended(early, late):
            continue
        # Never back: a lag that is read a little late would take committed rows away again.
        rows = max(done, arrivals.rows_at(late.t_s) - late.lag_rows)
        first = max(done, rows - (late.batch_rows or 0))
        end_s = _committed_s(arrivals, early, late, first, rows)
        # Several batches ended unseen: what they took was committed before the one that was seen.
        if first > done:
            usual_s = max(late.batch_s or 0.0, late.trigger_s or 0.0)
            book.committed(max(early.t_s, end_s - usual_s), first)
        book.committed(end_s, rows)
        done = rows
    return book.ledger(max(run.duration_s, 1.0))


def _committed_s(
    arrivals: Arrivals, early: Observation, late: Observation, first: float, rows: float
) -> float:
    """Return when the last batch between two observations, of these rows, was committed."""
    if late.latency_s is None or rows <= first:
        return end_of_batch_s(early, late)
    # Held between the two observations, the only times that are certain.
    return min(late.t_s, max(early.t_s, arrivals.mean_time(first, rows) + late.latency_s))


def _note_sizes(book: Book, observation: Observation) -> None:
    if observation.executors:
        book.registered(observation.t_s, observation.executors)
        book.paid(observation.t_s, max(observation.executors, observation.target or 0))
    if observation.size:
        book.target(observation.t_s, observation.size)
