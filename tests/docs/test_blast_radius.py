"""The table of private calls matches the code: one folder makes them, and the table lists each."""

from __future__ import annotations

import ast
import csv
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "rheostat"
ROOM = SOURCES / "spark" / "internals"
CALLS = tuple(ROOM.rglob("*.py"))
COMPILED = tuple(ROOM.rglob("*.java"))
"""The Java sources that the folder compiles, which call Spark in its own JVM."""
CODE = "".join(path.read_text(encoding="utf-8") for path in CALLS)
PAGE = (ROOT / "docs" / "operate" / "private-calls.md").read_text(encoding="utf-8")
TABLE = ROOT / "docs" / "operate" / "private-calls.csv"
with TABLE.open(encoding="utf-8", newline="") as file:
    ROWS = tuple(csv.DictReader(file))
LISTED = PAGE + "".join(row["call"] for row in ROWS)
PRIVATE = re.compile(r"_(jvm|gateway|jsc|jsq|jdf|jsparkSession|jsession|jconf|jwrite|sc)")
CITED = re.compile(r"``([A-Z]\w+(?:\.\w+)+)``")
CAMEL = re.compile(r"[A-Za-z]*[a-z][A-Z]\w*")
JAVA = """
ArrayList HashMap forName getField getDeclaredField setAccessible getClass getSuperclass
getSimpleName getName getMethods getConstructors newInstance toString fromString MethodHandles
MethodType publicLookup methodType findStatic findVirtual invokeWithArguments currentThread
getContextClassLoader getClassLoader loadClass createTempFile deleteOnExit toFile toUri
FileAttribute FileOutputStream JarOutputStream ZipEntry putNextEntry containsKey ManagementFactory
getThreadMXBean
"""
JANINO_HADOOP_SCALA = """
setParentClassLoader getBytecodes getFileSystem getPath getLength ClassTag valuesIterator hasNext
mkString replaceAll asInterfaceInstance MethodHandleProxies
"""
PYSPARK = (
    "sparkContext applicationId getConf getAll setJobGroup selectExpr PythonUtils toSeq toScalaMap"
    " uiWebUrl"
)
NOT_SPARKS = frozenset(f"{JAVA} {JANINO_HADOOP_SCALA} {PYSPARK}".split())
"""Names in the folder that are not Spark's internals."""


def test_private_members_of_pyspark_are_used_in_one_folder_only():
    violations = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"
        for path in SOURCES.rglob("*.py")
        if path not in CALLS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and PRIVATE.fullmatch(node.attr)
        and ast.unparse(node.value) != "self"
    ]
    assert violations == []


def test_the_scan_detects_the_private_calls():
    attributes = {
        node.attr
        for path in CALLS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert {"_jvm", "_jsc", "_jsq", "_gateway"} <= {
        name for name in attributes if PRIVATE.fullmatch(name)
    }


def test_every_call_cited_in_the_code_is_listed():
    cited = CITED.findall(CODE)
    assert len(cited) >= 8
    assert [call for call in cited if call.rsplit(".", 1)[1] not in LISTED] == []


def test_every_jvm_name_used_in_the_code_is_listed():
    used = {
        node.attr
        for path in CALLS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and CAMEL.fullmatch(node.attr)
    }
    assert len(used) >= 80
    assert sorted(name for name in used - NOT_SPARKS if name not in LISTED) == []


def test_every_class_documents_its_calls_fallback_and_spark_versions():
    parts = [
        (path.name, ast.get_docstring(node) or "")
        for path in CALLS
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(member, ast.FunctionDef) for member in node.body)
    ]
    assert len(parts) >= 10
    wanted = ("* Calls: ", "* Without ", "* Spark 3.5", "* Spark 4.", "* Any JVM")
    assert [name for name, text in parts if sum(line in text for line in wanted) < 3] == []


def test_every_row_states_purpose_fallback_and_worst_case():
    assert "(private-calls.csv)" in PAGE
    assert len(ROWS) >= 50
    assert [row["call"] for row in ROWS if not all(row.values())] == []


def test_every_listed_call_is_in_the_code():
    page = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    names = [
        match
        for row in (*page, *(row["call"] for row in ROWS))
        for match in re.findall(r"`[\w.]*?(\w+)(?:\([^`]*\))?`", row)
        if not match.isdigit()
    ]
    code = "".join(
        path.read_text(encoding="utf-8")
        for path in (*CALLS, *COMPILED, SOURCES / "local" / "executor_options.py")
    )
    assert len(names) >= 8
    assert [name for name in names if name not in code] == []
