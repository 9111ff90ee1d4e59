"""Java classes of ours that run inside Spark: compiled in the driver, some sent to executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rheostat.spark.internals.gateway import Gateway

_ROOM = Path(__file__).parent


class CompiledClasses:
    """Compiles the sources in ``driver/`` and ``executor/``.

    * Calls: Janino's ``SimpleCompiler``, which Spark itself compiles its plans with;
      ``SparkContext.addJar``.
    * Without them: Py4JError or TypeError, which the callers turn into their own fallback.
    * Spark 3.5.7 and 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm

    def in_driver(self, name: str) -> Any:
        """Return the constructor of a class of ``driver/``."""
        return self._compile(_ROOM / "driver" / f"{name}.java")[0]

    def on_executors(self, name: str) -> Any:
        """Return the constructor of a class of ``executor/``, and send the class to the executors
        as a JAR: to be called once.
        """
        constructor, code = self._compile(_ROOM / "executor" / f"{name}.java")
        self._send(name, code)
        return constructor

    def _compile(self, source: Path) -> tuple[Any, Any]:
        """Return the constructor and the code of a class."""
        name = f"rheostat.{source.stem}"
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(
            self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        )
        compiler.cook(source.read_text(encoding="utf-8"))
        compiled = compiler.getClassLoader().loadClass(name)
        return compiled.getConstructors()[0], compiler.getBytecodes().get(name)

    def _send(self, name: str, code: Any) -> None:
        java = self._jvm.java
        no_attributes = self._gateway.array(java.nio.file.attribute.FileAttribute, ())
        jar = java.nio.file.Files.createTempFile("rheostat-", ".jar", no_attributes)
        jar.toFile().deleteOnExit()
        written = java.util.jar.JarOutputStream(java.io.FileOutputStream(jar.toFile()))
        written.putNextEntry(java.util.zip.ZipEntry(f"rheostat/{name}.class"))
        written.write(code)
        written.close()
        self._gateway.scala_context.addJar(jar.toUri().toString())
