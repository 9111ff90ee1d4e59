"""The local Kubernetes of tests: a condition for skipping, and a policy whose size they set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rheostat.machine.atomic_file import write_atomic
from rheostat_lab.clusters.kubernetes import plane_build

needs_kubernetes = pytest.mark.skipif(
    not plane_build.are_built(),
    reason="Kubernetes is not in the cache; rheostat cluster up --kind kubernetes builds it",
)
POLICY = """
import os
from pathlib import Path
from rheostat.model import Decision
from rheostat.policies.rules.fixed import Fixed

class Told(Fixed):
    def decide(self, observation, memory):
        size = int(Path(os.environ["SIZE_FILE"]).read_text())
        return Decision(target=size, reason="told"), memory
"""


class RequestedSize:
    """The policy ``told:Told`` in a folder, which requests the size that was set last."""

    def __init__(self, folder: Path, size: int = 1) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "told.py").write_text(POLICY)
        self._file = folder / "size"
        self.environment = {
            "SIZE_FILE": str(self._file),
            "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}",
        }
        self.request_size(size)

    def request_size(self, size: int) -> None:
        """Set the size that the policy requests from now on."""
        write_atomic(self._file, str(size))
