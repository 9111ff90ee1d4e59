"""Services that outlive the command that started them, such as the broker of ``rheostat kafka up``,
and how they are ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from rheostat.errors import BadInput, RheostatError
from rheostat.machine import child_supervisor
from rheostat.machine.scratch_folder import state_folder

SAME_TIME_S = 2.0
"""Maximum difference in seconds between start times of the same process, even if the clock was set;
a process id may be reused."""

# Starts the command in its own session and exits, so that the command has no parent here; prints
# its process id.
_DETACH = (
    "import subprocess as s, sys; print(s.Popen(sys.argv[1:], stdin=s.DEVNULL, stdout=2, stderr=2,"
    " start_new_session=True).pid)"
)


@dataclass(frozen=True, slots=True)
class Service:
    """A service that was started detached: name, process id and start time (seconds since 1970),
    its address, and its folder.
    """

    name: str
    pid: int
    created_s: float
    url: str
    folder: str


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    url: str,
    folder: Path,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> Service:
    """Start a command that survives this process, and record its identity.

    Its output is appended to ``log``, and it runs in ``folder``. Raises BadInput if a service of
    that name is running, RheostatError if the command cannot be started.
    """
    require_none(name)
    log.parent.mkdir(parents=True, exist_ok=True)
    line = [sys.executable, "-I", "-S", "-c", _DETACH, *map(str, command)]
    with log.open("ab") as output:
        env = {**os.environ, **(environment or {})}
        detached = subprocess.run(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            cwd=folder,
            env=env,
        )
    try:
        pid = int(detached.stdout)
        # The start time makes the id unique, because ids are reused.
        service = Service(name, pid, psutil.Process(pid).create_time(), url, str(folder))
    except (ValueError, psutil.NoSuchProcess):
        raise RheostatError(f"{name} could not be started; see {log}") from None
    _write(service)
    return service


def require_none(name: str) -> None:
    """Raise BadInput if a service of that name is running."""
    running = find(name)
    if running:
        raise BadInput(
            f"{name} is already running at {running.url} (process {running.pid}); stop it first"
        )


def find(name: str) -> Service | None:
    """Return the service of that name if the same process still runs; None otherwise."""
    try:
        service = Service(**json.loads(_file(name).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return service if _process(service) else None


def end(name: str) -> Service | None:
    """End the service and all its processes (SIGTERM, after 8 s SIGKILL); return it, None if it was
    not running.
    """
    service = find(name)
    process = _process(service) if service else None
    if service and process:
        _end_all(process)
    # Also without a running process, because the file of a service that has ended is useless.
    _file(name).unlink(missing_ok=True)
    return service


def _end_all(process: psutil.Process) -> None:
    # Listed before any signal, because the children of an ended parent can no longer be found.
    doomed = {process, *process.children(recursive=True)}
    for pid in child_supervisor.members(process.pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            doomed.add(psutil.Process(pid))
    for signal_ in (psutil.Process.terminate, psutil.Process.kill):
        for member in filter(_is_alive, doomed):
            with contextlib.suppress(psutil.NoSuchProcess):
                signal_(member)
        deadline = time.monotonic() + child_supervisor.GRACE_S
        while any(map(_is_alive, doomed)) and time.monotonic() < deadline:
            time.sleep(child_supervisor.POLL_S)


def _process(service: Service) -> psutil.Process | None:
    try:
        process = psutil.Process(service.pid)
        same = abs(process.create_time() - service.created_s) < SAME_TIME_S
    except psutil.Error:
        return None
    return process if same and _is_alive(process) else None


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _file(name: str) -> Path:
    return state_folder() / f"{name}.json"


def _write(service: Service) -> None:
    file = _file(service.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(service)))
    partial.replace(file)
