from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

import rheostat

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import rheostat
print(rheostat.LoopOptions(interval_s=1.0).interval_s)
try:
    rheostat.attach
except rheostat.BadInput as refused:
    print(refused)
"""


def test_all_public_names_are_importable():
    assert {*rheostat.__all__, "__version__"} <= set(dir(rheostat))
    assert {"LoopOptions", "GuardOptions", "Policy"} <= set(rheostat.__all__)
    assert all(getattr(rheostat, name) is not None for name in rheostat.__all__)


@pytest.mark.parametrize("name", rheostat.__all__)
def test_no_public_name_is_shadowed_by_a_module(name):
    assert find_spec(f"rheostat.{name}") is None


def test_doctor_remains_a_function_after_its_use():
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import rheostat; rheostat.doctor; rheostat.doctor.__call__; print('ok')",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "ok\n"


def test_without_pyspark_attach_fails_in_one_line_and_the_rest_works():
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == [
        "1.0",
        "rheostat.attach needs PySpark 3.5 or later, which is not installed in this Python:"
        " pip install pyspark",
    ]
