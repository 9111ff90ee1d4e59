"""Compiles Rheostat's Java classes, which run in the driver or on executors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rheostat.spark.internals.gateway import Gateway

_SOURCES = Path(__file__).parent / "java"


class CompiledClasses:
    """Compiles the sources in ``java/driver/`` and ``java/executor/``.

    * Calls: Janino's ``SimpleCompiler``, which Spark itself compiles its plans with;
      ``SparkContext.addJar``.
    * Without them: Py4JError or TypeError, for which each caller has a fallback.
    * Spark 3.5.7 and 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._jvm = gateway.jvm
        self._in_driver: dict[str, Any] = {}
        """The constructors of the driver's classes, by name."""

    def in_driver(self, name: str, *arguments: Any) -> Any:
        """Return an object of a class of ``java/driver/``, which is compiled once."""
        if name not in self._in_driver:
            compiled, _ = self._compile(_SOURCES / "driver" / f"{name}.java")
            self._in_driver[name] = compiled.getConstructors()[0]
        # By reflection: py4j looks a class up by its name, without Janino's class loader.
        given = self._gateway.array(self._jvm.java.lang.Object, arguments)
        return self._in_driver[name].newInstance(given)

    def on_executors(self, name: str) -> Any:
        """Return a class's constructor and send it to the executors as a JAR; call once."""
        return self.all_on_executors([name])[name]

    def all_on_executors(self, names: Sequence[str]) -> dict[str, Any]:
        """Return constructors of classes, dependencies first, sent as one JAR; call once."""
        loader, constructors, codes = None, {}, {}
        for name in names:
            compiled, made = self._compile(_SOURCES / "executor" / f"{name}.java", loader)
            loader = compiled.getClassLoader()
            constructors[name] = next(iter(compiled.getConstructors()), None)
            # Including inner classes, because executors load them by name from the JAR.
            codes.update(made)
        self._send(codes)
        return constructors

    def _compile(self, source: Path, parent: Any = None) -> tuple[Any, dict[str, Any]]:
        """Compile a class; return it and the bytecode of it and its inner classes by name."""
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        # The context's class loader knows Spark and the JARs that the user has added.
        compiler.setParentClassLoader(
            parent or self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        )
        compiler.cook(source.read_text(encoding="utf-8"))
        compiled = compiler.getClassLoader().loadClass(f"rheostat.{source.stem}")
        return compiled, dict(compiler.getBytecodes())

    def _send(self, codes: Mapping[str, Any]) -> None:
        java = self._jvm.java
        no_attributes = self._gateway.array(java.nio.file.attribute.FileAttribute, ())
        jar = java.nio.file.Files.createTempFile("rheostat-", ".jar", no_attributes)
        jar.toFile().deleteOnExit()
        written = java.util.jar.JarOutputStream(java.io.FileOutputStream(jar.toFile()))
        for name, code in codes.items():
            written.putNextEntry(java.util.zip.ZipEntry(f"{name.replace('.', '/')}.class"))
            written.write(code)
        written.close()
        self._gateway.scala_context.addJar(jar.toUri().toString())
