"""The images of the operator and of a driver are built from their Dockerfiles and started.

Images of a registry are replaced by a Debian that debootstrap makes on this machine, with Debian's
Python and Java: buildah needs no daemon, and its isolation by chroot no container runtime.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("starlette", reason="comes with the extra serve")
import yaml
from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.operator_plane import GROUP, Operator, Plane, running_plane

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.thorough,
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(map(shutil.which, ("buildah", "debootstrap"))),
        reason="needs root and Debian's packages buildah and debootstrap",
    ),
]
PACKAGES = "ca-certificates,python3,python3-pip,python3-venv,openjdk-17-jre-headless"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OF_THIS_COMPUTER = (
    "etc/hosts",
    "etc/pip.conf",
    "etc/resolv.conf",
    "etc/ssl/certs/ca-certificates.crt",
)
"""How packages are reached from here."""


class Images:
    """A store of images in a folder."""

    def __init__(self, folder: Path) -> None:
        self._storage = [f"--root={folder}/root", f"--runroot={folder}/run", "--storage-driver=vfs"]

    def buildah(self, command: str, *words: str) -> str:
        """Run a command of buildah and return its output."""
        done = subprocess.run(
            ["buildah", *self._storage, command, *words], capture_output=True, text=True
        )
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-4000:])
        return done.stdout.strip()

    def add_base(self, files: Path, name: str) -> None:
        """Store a root file system as an image."""
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, str(files), "/")
        self.buildah("config", "--env", f"PATH={PATH}", container)
        self.buildah("commit", "--quiet", "--rm", container, name)

    def build(self, file: str, context: Path, tag: str, *words: str) -> None:
        """Build an image from a Dockerfile of the repository."""
        words = ("--isolation=chroot", "--pull-never", f"--file={context / file}", *words)
        self.buildah("bud", *words, f"--tag={tag}", str(context))

    def command(self, image: str) -> list[str]:
        """Return the entry point and the command of an image."""
        config = json.loads(self.buildah("inspect", "--type=image", image))["OCIv1"]["config"]
        return [*config.get("Entrypoint", ()), *config.get("Cmd", ())]

    def started(
        self, image: str, *words: str, mounts: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        """Start a command in a new container of an image, as the image's user."""
        container = self.buildah("from", "--pull-never", image)
        options = ["--isolation=chroot", *(f"--volume={mount}" for mount in mounts)]
        return subprocess.Popen(
            ["buildah", *self._storage, "run", *options, container, "--", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def output(self, image: str, *words: str) -> str:
        """Run a command in a new container of an image; return what it printed."""
        process = self.started(image, *words)
        printed, _ = process.communicate(timeout=300)
        assert process.returncode == 0, printed
        return printed


def root_file_system(folder: Path) -> Path:
    """Make a Debian with Python and Java that reaches packages as this computer does."""
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if line
    )
    words = ["--variant=minbase", f"--include={PACKAGES}", release["VERSION_CODENAME"]]
    done = subprocess.run(["debootstrap", *words, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    for name in OF_THIS_COMPUTER:
        if Path("/", name).exists():
            shutil.copy(Path("/", name), folder / name)
    for name in ("apt.conf.d", "sources.list.d"):
        shutil.copytree(Path("/etc/apt", name), folder / "etc/apt" / name, dirs_exist_ok=True)
    (folder / "usr/bin/python").symlink_to("python3")
    for marker in folder.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        marker.unlink()  # only Debian has it
    return folder


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as a clean clone."""
    folder = tmp_path_factory.mktemp("context")
    archive = folder.parent / "context.tar"
    subprocess.run(["git", "archive", f"--output={archive}", "HEAD"], cwd=ROOT, check=True)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    folder = tmp_path_factory.mktemp("images")
    store = Images(folder / "store")
    store.add_base(root_file_system(folder / "debian"), "docker.io/library/python:3.12-slim")
    yield store
    shutil.rmtree(folder, ignore_errors=True)


def test_the_operators_image_is_built_and_its_entry_point_starts(
    images: Images, context: Path
) -> None:
    images.build("deploy/docker/operator.Dockerfile", context, "operator")
    entry = images.command("operator")
    assert entry == ["/opt/rheostat/bin/rheostat", "operator", "run"]
    assert "--lease" in images.output("operator", *entry, "--help")
    assert images.output("operator", "id", "-u").strip() == "10001"


@needs_kubernetes
def test_the_operator_in_its_image_reconciles_on_a_real_api_server(
    images: Images, context: Path, tmp_path: Path
) -> None:
    images.build("deploy/docker/operator.Dockerfile", context, "operator")
    (tmp_path / "plane").mkdir()
    with running_plane(tmp_path / "plane") as plane:
        Operator(plane).deploy()
        config = plane.folder / "operator-kubeconfig"
        config.chmod(0o644)
        process = images.started(
            "operator",
            "env",
            "KUBECONFIG=/kubeconfig",
            *images.command("operator"),
            "--every=1",
            "--lease=rheostat/rheostat-operator",
            mounts=(f"{config}:/kubeconfig:ro", f"{plane.folder}:{plane.folder}:ro"),
        )
        try:
            plane.apply(yaml.safe_load((ROOT / "deploy/example/application.yaml").read_text()))
            reconciled = has_status(plane, "etl")
        finally:
            process.terminate()
            printed, _ = process.communicate(timeout=60)
    assert reconciled, printed
    assert "Traceback" not in printed, printed


def has_status(plane: Plane, name: str) -> bool:
    """Return whether the operator writes a status of an application within a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if json.loads(plane.kubectl("get", "--raw", f"{GROUP}/{name}")).get("status"):
            return True
        time.sleep(0.5)
    return False


SPARK_IMAGE = f"""
FROM docker.io/library/python:3.12-slim
RUN pip3 install --no-cache-dir pyspark=={pyspark.__version__} && useradd --uid 185 spark
WORKDIR /opt/spark/work-dir
RUN chown spark .
USER 185
"""
APPLICATION = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
query = spark.readStream.format("rate").load().writeStream.format("noop").start()
while not query.recentProgress:
    query.awaitTermination(0.5)
print("the query has progress")
query.stop()
spark.stop()
"""


def test_the_drivers_image_is_built_and_runs_an_application(images: Images, context: Path) -> None:
    (context / "Spark.Dockerfile").write_text(SPARK_IMAGE)
    images.build("Spark.Dockerfile", context, "localhost/spark")
    (context / "Spark.Dockerfile").unlink()
    base = "--build-arg=SPARK_IMAGE=localhost/spark"
    images.build("deploy/docker/driver.Dockerfile", context, "driver", base)
    (context / "app.py").write_text(APPLICATION)
    process = images.started(
        "driver",
        *("env", "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_HOSTNAME=localhost"),
        *("spark-submit", "--master", "local[1]", "/opt/rheostat/rheostat_run.py", "/app.py"),
        mounts=(f"{context}/app.py:/app.py:ro",),
    )
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0, printed
    assert "the query has progress" in printed
    assert "rheostat" in printed
    assert images.output("driver", "id", "-u").strip() == "185"
