"""Small files on a real HDFS, as a journal there is written: extended, replaced, looked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.drivers_elsewhere import DEADLINE_S, hdfs_of_one_node

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
# A process of its own: a JVM learns its class path at its start.
WRITES = """
import json, sys
from rheostat.spark.internals.file_systems.hadoop_folder import own_folder

folder = own_folder(sys.argv[1])
for line in ("a\\n", "b\\n"):
    folder.extend("segment", line)
    folder.write("memory", line)
found = {name: folder.text(name) for name in folder.sizes()}
found["STOP"] = folder.text("STOP")
print(json.dumps(found))
folder.close()
"""


def test_a_file_on_hdfs_is_extended_line_by_line_and_another_replaced(tmp_path: Path) -> None:
    with hdfs_of_one_node(tmp_path) as hdfs:
        words = [sys.executable, "-c", WRITES, f"{hdfs}/journal"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"segment": "a\nb\n", "memory": "b\n", "STOP": None}
