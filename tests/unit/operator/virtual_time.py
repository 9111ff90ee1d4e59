"""An event loop whose clock skips each wait: a loaded machine cannot make a test miss its time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Advances its clock by the wait until the next timer, once nothing else is ready to run."""

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def advance(timeout: float | None = None) -> Any:
            self._now_s += timeout or 0.0
            return select(timeout if timeout is None else 0)

        self._selector.select = advance  # type: ignore[attr-defined]

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._now_s


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine as ``asyncio.run`` does, in virtual time."""

    async def run_and_cancel() -> None:
        await main
        for task in (left := asyncio.all_tasks() - {asyncio.current_task()}):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    loop = VirtualTimeLoop()
    try:
        loop.run_until_complete(run_and_cancel())
    finally:
        loop.close()
