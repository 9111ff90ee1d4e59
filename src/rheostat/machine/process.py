"""Child processes that end with this process, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.machine import child_supervisor

STOP_DEADLINE_S = child_supervisor.GRACE_S + 4.0


def run_program(
    command: Sequence[str | Path], deadline_s: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, without input, and return its exit code and its output.

    ``environment`` replaces that of this process. Raises ``RheostatError`` if the program cannot be
    run, or runs for longer than ``deadline_s`` seconds.
    """
    line = list(map(str, command))
    try:
        return subprocess.run(
            line,
            capture_output=True,
            text=True,
            timeout=deadline_s,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise RheostatError(f"{Path(line[0]).name} cannot be run: {fault}") from None


class Child:
    """A supervised command; it and all that it started end at ``stop`` or when this process dies.

    ``log`` receives its output; ``environment`` is added to this process's; ``folder`` is its
    working directory; ``holds`` are file descriptors to keep open (``ScratchFolder.lock``). It is a
    context manager. Raises ``RheostatError`` if it cannot be started. Fails when: one of its
    processes calls ``setsid``.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        holds: Sequence[int] = (),
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        # Isolated and without site: the environment and the working directory cannot interfere.
        line = [sys.executable, "-I", "-S", child_supervisor.__file__, "--", *map(str, command)]
        with log.open("ab") as output:
            self._supervisor = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                # Not in the terminal's process group: Ctrl-C reaches the parent only.
                start_new_session=True,
                pass_fds=holds,  # the supervisor keeps these; its command does not inherit them
            )
        self.log = log
        self.pid = self._read_pid()

    def _read_pid(self) -> int:
        first_line = ""
        if self._supervisor.stdout is not None:
            with self._supervisor.stdout as stdout:
                first_line = stdout.readline().decode(errors="replace").strip()
        if first_line.isdigit():
            return int(first_line)
        self.stop()
        raise RheostatError(first_line or f"the command ended before it began; see {self.log}")

    @property
    def alive(self) -> bool:
        """Whether the command runs."""
        return self._supervisor.poll() is None

    @property
    def exit_code(self) -> int | None:
        """The command's exit code, 128 + n if signal n ended it; None while it runs."""
        return self._supervisor.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the end and return the exit code; None if it runs after ``timeout_s``."""
        try:
            return self._supervisor.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """End the command and all that it started within about 12 s; idempotent."""
        if self._supervisor.stdin is not None:
            # Closing its input ends the supervisor; the death of this process has the same effect.
            self._supervisor.stdin.close()
        if self.wait(STOP_DEADLINE_S) is None:
            self._supervisor.kill()
            self._supervisor.wait()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
