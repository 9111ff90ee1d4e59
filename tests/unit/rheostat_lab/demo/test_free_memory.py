from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat_lab.demo.free_memory import MIB, available_bytes, require_memory

GROUPS = {
    "version 2": (
        "0::/job/mine\n",
        "sys/fs/cgroup/job/mine",
        ("memory.max", "memory.current", "inactive_file"),
    ),
    "version 1": (
        "4:cpu:/\n3:memory:/job\n",
        "sys/fs/cgroup/memory/job",
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ),
    "a limit further up": (
        "0::/job/mine\n",
        "sys/fs/cgroup/job",
        ("memory.max", "memory.current", "inactive_file"),
    ),
    "a container that sees its own top": (
        "0::/host/path\n",
        "sys/fs/cgroup",
        ("memory.max", "memory.current", "inactive_file"),
    ),
}


def computer(root: Path, lines: str, folder: str, names: tuple[str, str, str], limit: str) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(lines)
    (root / folder).mkdir(parents=True)
    (root / folder / names[0]).write_text(limit)
    (root / folder / names[1]).write_text(str(70 * MIB))
    (root / folder / "memory.stat").write_text(f"anon 1\n{names[2]} {20 * MIB}\n")
    return root


@pytest.mark.parametrize("case", GROUPS)
def test_the_control_group_limit_applies_and_its_page_cache_counts_as_free(
    tmp_path: Path, case: str
) -> None:
    assert available_bytes(computer(tmp_path, *GROUPS[case], limit=f"{100 * MIB}\n")) == 50 * MIB


@pytest.mark.parametrize("limit", ["max\n", str(1 << 62)])
def test_a_group_without_a_limit_has_the_memory_of_the_computer(tmp_path: Path, limit: str) -> None:
    assert available_bytes(computer(tmp_path, *GROUPS["version 2"], limit=limit)) > 50 * MIB


def test_a_computer_without_control_groups_reports_memory(tmp_path: Path) -> None:
    assert available_bytes(tmp_path) > 0


def test_insufficient_memory_is_reported_with_both_numbers() -> None:
    require_memory(6000 * MIB, "the demo", available=6000 * MIB)
    with pytest.raises(BadInput, match="the demo needs 6000 MiB of memory, but only 5999 MiB"):
        require_memory(6000 * MIB, "the demo", available=6000 * MIB - 1)
