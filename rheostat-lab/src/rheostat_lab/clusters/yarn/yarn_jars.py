"""The JARs of a local YARN: Hadoop's own ResourceManager and NodeManager in the version of Spark's
Hadoop, and our class that starts them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.local.spark_home import SparkHome
from rheostat.machine.ivy import cached_jars, complete_jars
from rheostat.machine.java_jar import build_jar
from rheostat.machine.scratch_folder import cache_folder

CLASS = "rheostat.YarnCluster"
FETCH = "fetching YARN's JARs: 56 MB from Maven Central, about half a minute, once"
_SOURCE = Path(__file__).parent / "java" / "YarnCluster.java"

# Hadoop's minicluster is made for tests and needs JUnit: 4 up to Hadoop 3.4, 5 later.
_MODULES = (
    ("junit", "junit", "4.13.2"),
    ("org.hamcrest", "hamcrest-core", "1.3"),
    ("org.junit.jupiter", "junit-jupiter-api", "5.10.3"),
    ("org.junit.platform", "junit-platform-commons", "1.10.3"),
    ("org.opentest4j", "opentest4j", "1.3.0"),
    ("org.bouncycastle", "bcprov-jdk18on", "1.78.1"),
    ("org.bouncycastle", "bcpkix-jdk18on", "1.78.1"),
    ("org.bouncycastle", "bcutil-jdk18on", "1.78.1"),
    ("org.mockito", "mockito-core", "4.11.0"),
)

# Hadoop 3.4 uses the XML API of Java 8: Spark 3.5 includes it, and Hadoop 3.5 does not need it.
_XML = (
    ("jakarta.xml.bind", "jakarta.xml.bind-api", "2.3.2"),
    ("jakarta.activation", "jakarta.activation-api", "1.2.1"),
    ("org.glassfish.jaxb", "jaxb-runtime", "2.3.2"),
    ("org.glassfish.jaxb", "txw2", "2.3.2"),
    ("com.sun.istack", "istack-commons-runtime", "3.0.8"),
)


def are_cached(home: SparkHome) -> bool:
    """Return whether all JARs are in the cache."""
    return bool(complete_jars(_folder(home)))


def yarn_class_path(home: SparkHome) -> str:
    """Return the class path of ``CLASS``: downloaded at the first call, then from the cache.

    Raises BadInput without a network at the first call, and RheostatError without a Java compiler.
    """
    jars = cached_jars(_folder(home), "YARN", _dependencies(home))
    # YARN's JARs come before Spark's, which have the same version but lack some classes.
    class_path = ":".join([*map(str, jars), f"{home.folder / 'jars'}/*"])
    ours = build_jar([_SOURCE], CLASS, class_path, home.jdk, cache_folder() / "java")
    return f"{ours}:{class_path}"


def _folder(home: SparkHome) -> Path:
    # Named by its contents, because a cache of an older Rheostat may lack a required JAR.
    held = hashlib.sha256(_dependencies(home).encode()).hexdigest()[:8]
    return cache_folder() / "jars" / f"yarn-{_hadoop(home)}-{held}"


def _dependencies(home: SparkHome) -> str:
    """Return the modules as elements of an Ivy file."""
    hadoop = _hadoop(home)
    xml = _XML if hadoop.startswith("3.4.") else ()
    modules = (("org.apache.hadoop", "hadoop-client-minicluster", hadoop), *_MODULES, *xml)
    return "".join(_dependency(*module) for module in modules)


def _hadoop(home: SparkHome) -> str:
    """Return the version of Spark's Hadoop."""
    for jar in (home.folder / "jars").glob("hadoop-client-api-*.jar"):
        return jar.stem.rpartition("-")[2]
    raise BadInput(f"there is no Hadoop in {home.folder / 'jars'}, so there is no YARN for it")


def _dependency(organisation: str, name: str, version: str) -> str:
    named = f'org="{organisation}" name="{name}" rev="{version}"'
    return f'<dependency {named} conf="jars->default" transitive="false"/>'
