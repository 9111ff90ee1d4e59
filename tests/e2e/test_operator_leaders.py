"""Of two operators on a real API server one acts; the other takes over when it is killed."""

# mypy: disallow-untyped-calls=False

import signal
import sys
import time

import pytest

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("kubernetes", reason="comes with the extra operator")
pytest.importorskip("prometheus_client", reason="comes with the extra serve")

from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.operator_plane import GROUP, Driver, Operator, resource, running_plane, until

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, needs_kubernetes]
LEASE = "/apis/coordination.k8s.io/v1/namespaces/rheostat/leases/rheostat-operator"
KILLS = 3


@pytest.fixture
def plane(tmp_path):
    with running_plane(tmp_path) as made:
        yield made


def leader(plane, operators):
    """Return the operator that the lease names."""
    try:
        holder = plane.request("GET", LEASE)["spec"]["holderIdentity"]
    except OSError:
        return None
    leaders = [operator for operator in operators if holder.endswith(f"-{operator.process.pid}")]
    return leaders[0] if leaders else None


def scaled(plane, driver, size):
    read = plane.request("GET", f"{GROUP}/led/scale")
    del read["metadata"]["resourceVersion"]
    read["spec"]["replicas"] = size
    plane.request("PUT", f"{GROUP}/led/scale", read)
    return until(lambda: driver.size == size, f"{size} executors", 90)


def test_the_second_operator_takes_over_from_a_killed_or_suspended_leader(plane):
    operators = [Operator(plane, "--lease=rheostat/rheostat-operator") for _ in range(2)]
    operators[0].deploy()
    driver = Driver(2)
    driver.pod(plane, "led")
    plane.apply(resource("led", driver.port, mode="external"))
    for operator in operators:
        operator.start()
    try:
        until(lambda: leader(plane, operators), "one leads")
        until(lambda: plane.request("GET", f"{GROUP}/led")["spec"].get("replicas"), "found")
        wanted = [3, 4, 5]
        for size in wanted:
            scaled(plane, driver, size)
        took = []
        for number in range(KILLS):
            was = leader(plane, operators)
            was.kill()
            wanted.append(6 + number % 2)
            took.append(scaled(plane, driver, wanted[-1]))
            assert leader(plane, operators) not in (None, was)
            was.start()
        sys.stderr.write(f"killed, to the next size decided, n={KILLS}: {sorted(took)} s\n")
        assert driver.requested == wanted
        was = leader(plane, operators)
        was.process.terminate()  # as Kubernetes ends a pod: it releases the lease
        wanted.append(4)
        took_s = scaled(plane, driver, 4)
        sys.stderr.write(f"ended in order, to the next size decided: {took_s:.1f} s\n")
        assert was.process.wait(30) == 0
        was.start()
        away = leader(plane, operators)
        away.process.send_signal(signal.SIGSTOP)
        wanted.append(2)
        scaled(plane, driver, 2)
        away.process.send_signal(signal.SIGCONT)
        until(lambda: away.process.poll() is not None, "who has lost the lease ends")
        time.sleep(2)
        assert driver.requested == wanted
    finally:
        for operator in operators:
            operator.kill()
        driver.close()
