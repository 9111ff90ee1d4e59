"""Starts executors warm: a class archive of the application, and an agent that loads classes early.

The first executors record; a leaving one writes the archive and the class list into the cache;
later executors map the archive, and ``WarmStart.java`` loads the list before Spark's main method.
Each start reads a file of JVM options (``java @file``), which changes as the application runs.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput, RheostatError
from rheostat.machine.atomic_file import write_atomic
from rheostat.machine.java_jar import build_jar
from rheostat.machine.jdk import Jdk
from rheostat.machine.process import run_program
from rheostat.machine.scratch_folder import cache_folder
from rheostat.spark.sensing.local_processes import LocalExecutors

KEPT = 6
"""The number of recently used applications whose archives (80 to 120 MB each) are kept."""

_log = logging.getLogger("rheostat")
RECORD = ("-XX:+RecordDynamicDumpInfo",)
DUMP_DEADLINE_S = 60.0

# The JVM ignores an archive that does not fit, without a line in the log.
_SILENT = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")

# Mapped at its original address, its pages are shared by all JVMs and need no relocation.
_AT_ITS_ADDRESS = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
_LINE = re.compile(r"^[|\- ]*(?P<name>[\w.$]+)/(?P<loader>null|0x[0-9a-f]+)$")
_MADE_UP = re.compile(
    r"\$\$(Lambda|FastClass|Enhancer)|LambdaForm|\$Proxy|GeneratedClass|SpecificUnsafe|Generated[CMS][a-z]+Accessor"
)

SETTING = "spark.rheostat.internal.warmStart"
"""The session setting that names an application's file of JVM options."""

LIBRARIES = {
    "files": "org.apache.hadoop.fs.FileSystem",
    "compression": "net.jpountz.lz4.LZ4BlockOutputStream",
    "rocksdb": "org.rocksdb.RocksDB",
    "kafka": "org.apache.kafka.clients.consumer.KafkaConsumer",
    "codegen": "org.codehaus.janino.ClassBodyEvaluator",
    "json": "org.apache.spark.sql.execution.streaming.state.RocksDBCheckpointMetadata",
}
"""The parts of ``Exercise.java``, each with the class that shows that an application uses it."""

_FLAGS = "spark.executor.extraJavaOptions"
_BACKEND = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_FOREIGN = (
    "-javaagent",
    "-agentlib",
    "-agentpath",
    "-Xshare",
    "SharedArchiveFile",
    "ArchiveClassesAtExit",
    "RecordDynamicDumpInfo",
)
_PROBE_DEADLINE_S = 30.0


def of_script(script: Path) -> str:
    """Return the name of an application from its script: other content loads other classes."""
    try:
        content = script.read_bytes()
    except OSError as fault:
        raise BadInput(f"the script {script} cannot be read: {fault.strerror}") from None
    return f"{script.resolve()} {hashlib.sha256(content).hexdigest()}"


def archive_key(
    application: str, spark: Path, jars: Sequence[Path], flags: Sequence[str], jdk: Jdk
) -> str:
    """Return a key of everything that an archive depends on."""
    files = [jdk.home / "lib" / "modules", *sorted(spark.glob("*.jar")), *jars]
    # Sizes and times represent the contents: Spark's JARs are hundreds of megabytes.
    stamps = [
        f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files if file.exists()
    ]
    return hashlib.sha256(
        "\n".join([application, str(jdk.version), *stamps, *flags]).encode()
    ).hexdigest()[:20]


def forget_oldest(cache: Path, wanted: Path) -> None:
    """Remove the least recently used folders among those named by ``archive_key``."""
    others = [path for path in cache.glob("[0-9a-f]" * 20) if path.is_dir() and path != wanted]
    for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def use(archive: Path) -> tuple[str, ...]:
    """Return the JVM options for an archive; one that does not fit is silently ignored."""
    return (f"-XX:SharedArchiveFile={archive}", *_AT_ITS_ADDRESS, *_SILENT)


def dump(pid: int, archive: Path, jdk: Jdk) -> None:
    """Make a JVM write its archive atomically, which blocks the JVM for seconds.

    Raises ``RheostatError`` if the JVM does not record, has ended, or does not answer.
    """
    partial = archive.with_suffix(f".{os.getpid()}.partial")
    archive.parent.mkdir(parents=True, exist_ok=True)
    try:
        output = _jcmd(jdk, pid, "VM.cds", "dynamic_dump", str(partial))
        # jcmd exits with 0 even if the JVM has refused: only the file proves success.
        if not partial.exists():
            raise RheostatError(f"jcmd wrote no archive: {' '.join(output.split())[-200:]}")
        partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)


def named(hierarchy: str, near: str) -> list[str]:
    """Return the classes that a JVM loaded from its libraries and the class path of ``near``, from
    the output of ``jcmd PID VM.class_hierarchy``.

    Generated classes are omitted. Raises ``RheostatError`` if ``near`` is not among them.
    """
    classes = [
        match.group("name", "loader") for match in map(_LINE.match, hierarchy.splitlines()) if match
    ]
    # Loaders are printed by address, so a class that it has loaded identifies the right one.
    loaders = {loader for name, loader in classes if name == near} | {"null"}
    if len(loaders) == 1:
        raise RheostatError(f"the JVM has not loaded {near}")
    return sorted(
        {name for name, loader in classes if loader in loaders and not _MADE_UP.search(name)}
    )


def _jcmd(jdk: Jdk, pid: int, *command: str) -> str:
    done = run_program([jdk.home / "bin" / "jcmd", str(pid), *command], DUMP_DEADLINE_S)
    if done.returncode != 0:
        raise RheostatError(f"jcmd failed: {' '.join((done.stdout + done.stderr).split())[-200:]}")
    return done.stdout


_SOURCES = Path(__file__).parent / "agent"


class WarmStart:
    """How executors start: ``kept`` is the cache folder, ``options`` the JVM option file."""

    def __init__(self, kept: Path, options: Path, jdk: Jdk, agent: Path) -> None:
        self.options, self.agent = options, agent
        self.archive, self.classes = kept / "archive.jsa", kept / "classes.txt"
        self._kept, self._jdk = kept, jdk
        self._busy = threading.Lock()

    @property
    def trained(self) -> bool:
        """Whether executors that start now are warm."""
        return self.archive.exists() and self.classes.exists()

    @property
    def flags(self) -> tuple[str, ...]:
        """The JVM option of executors, whose file is evaluated when one starts."""
        return (f"@{self.options}",)

    @property
    def settings(self) -> dict[str, str]:
        """The setting by which a session finds this object again (``of_session``)."""
        return {SETTING: str(self.options)}

    def refresh(self) -> None:
        """Write how the next executor starts: from the archive, recording one, or plainly."""
        nowhere = self._kept / "nothing"  # the agent then does nothing
        works = _starts(self._jdk, self._wanted(nowhere))
        text = "".join(f"{_quoted(flag)}\n" for flag in self._wanted(self._kept) if works)
        # An executor may start at this moment and must read one version of the options completely.
        write_atomic(self.options, text)

    def _wanted(self, folder: Path) -> tuple[str, ...]:
        return (*use(self.archive), f"-javaagent:{self.agent}={folder}") if self.trained else RECORD

    def train(self, application: str, executor: str) -> bool:
        """Make a leaving, idle executor write archive and list; return whether they exist.

        Raises nothing; after a failure the next leaving executor is used.
        """
        # Several executors are removed together, but one archive is enough.
        if not self._busy.acquire(blocking=False):
            return False
        try:
            if not self.trained:
                pid = LocalExecutors(application).process_id(executor)
                if pid is None:
                    raise RheostatError("it does not run on this computer")
                self._write(pid)
            return self.trained
        except (RheostatError, OSError) as fault:
            _log.info("rheostat: executor %s wrote no class archive: %s", executor, fault)
            return False
        finally:
            self._busy.release()

    def train_soon(self, application: str, executor: str) -> None:
        """Call ``train`` in a background thread."""
        if not self.trained:
            threading.Thread(
                target=self.train,
                args=(application, executor),
                name="rheostat-training",
                daemon=True,
            ).start()

    def _write(self, pid: int) -> None:
        self._kept.mkdir(parents=True, exist_ok=True)
        classes = named(_jcmd(self._jdk, pid, "VM.class_hierarchy"), _BACKEND)
        dump(pid, self.archive, self._jdk)
        (self._kept / "libraries.txt").write_text(
            "".join(f"{name}\n" for name in libraries(classes)), encoding="utf-8"
        )
        # The list is written last and atomically: it is the sign of completion.
        write_atomic(self.classes, "".join(f"{name}\n" for name in classes))
        self.refresh()


_prepared: dict[str, WarmStart] = {}
"""The warm starts of this process, by their files of options."""


def prepare(
    application: str,
    spark: Path,
    options: Path,
    *,
    jars: Sequence[Path] = (),
    flags: Sequence[str] = (),
    jdk: Jdk,
) -> WarmStart:
    """Return how an application's executors start, after writing its file of options.

    ``application`` identifies the loaded classes, ``spark`` is the folder of Spark's JARs,
    ``options`` the file to write; ``jars`` and ``flags`` are the rest of the executors' command
    line. Raises ``RheostatError`` if executors cannot start warm.
    """
    if not jdk.has_jcmd:
        raise RheostatError(f"{jdk.home} is a JRE; with a JDK, executors start warm")
    # Java adds these options to the command line of every JVM, including executors.
    words = (*flags, *os.environ.get("JAVA_TOOL_OPTIONS", "").split())
    foreign = next((word for word in words if any(name in word for name in _FOREIGN)), None)
    if foreign:
        raise RheostatError(
            f"executors have {foreign} among their JVM options, which excludes a class archive of"
            " ours"
        )
    cache = (cache_folder() / "warm-start").absolute()
    sources = sorted(_SOURCES.glob("*.java"))
    agent = build_jar(sources, "rheostat.WarmStart", f"{spark}/*", jdk, cache)
    # The agent's name is part of the key: another agent loads other classes.
    kept = cache / archive_key(f"{application} {agent.name}", spark, jars, flags, jdk)
    forget_oldest(cache, kept)
    kept.mkdir(parents=True, exist_ok=True)
    # The cache removes the folder with the oldest modification time.
    os.utime(kept)
    warm = WarmStart(kept, options, jdk, agent)
    options.parent.mkdir(parents=True, exist_ok=True)
    warm.refresh()
    _prepared[str(options)] = warm
    return warm


def libraries(classes: Sequence[str]) -> list[str]:
    """Return the Spark libraries used by the application, to load before registration."""
    return [name for name, sign in LIBRARIES.items() if sign in set(classes)]


def of_session(spark: Any) -> WarmStart | None:
    """Return the warm start of a session started with ``settings`` and ``flags``."""
    settings = spark.sparkContext.getConf()
    options = settings.get(SETTING, "")
    return _prepared.get(options) if f"@{options}" in settings.get(_FLAGS, "") else None


def _starts(jdk: Jdk, flags: Sequence[str]) -> bool:
    """Return whether a JVM starts with the options."""
    try:
        return run_program([jdk.java, *flags, "-version"], _PROBE_DEADLINE_S).returncode == 0
    except RheostatError:
        return False


def _quoted(flag: str) -> str:
    """Return an option quoted for Java's argument files."""
    escaped = flag.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
