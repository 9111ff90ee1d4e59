from __future__ import annotations

from collections.abc import Mapping

import pytest

from rheostat.clusters.registry import cluster_manager

MASTER = "k8s://https://h:6443"
HOST, BOUND = "spark.driver.host", "spark.driver.bindAddress"
POD_IP = "spark.kubernetes.executor.useDriverPodIP"


def lines(settings: Mapping[str, str], version: str = "4.3.0", master: str = MASTER) -> list[str]:
    manager = cluster_manager(master)
    findings = manager.address_findings(lambda name, default: settings.get(name, default), version)
    return [finding.line for finding in findings]


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::", "[::]", "0:0:0:0:0:0:0:0"])
def test_a_driver_bound_to_all_addresses_is_reported(wildcard: str) -> None:
    settings = {HOST: "10.0.0.9", BOUND: wildcard}
    (line,) = lines(settings)
    assert f"at {wildcard} (spark.driver.bindAddress)" in line
    assert f"add {POD_IP}=false and {HOST}=" in line
    assert lines({**settings, POD_IP: "false"}) == []


@pytest.mark.parametrize("loopback", ["127.0.0.1", "127.0.1.1", "::1", "localhost"])
def test_a_loopback_driver_address_is_reported(loopback: str) -> None:
    assert f"add {BOUND}=" in lines({HOST: "10.0.0.9", BOUND: loopback})[0]
    assert f"add {HOST}=" in lines({HOST: loopback}, "4.0.0")[0]
    # Without a bind address a driver is bound to its host.
    assert f"at {loopback} ({BOUND})" in lines({HOST: loopback})[0]


@pytest.mark.parametrize(
    ("version", "settings"),
    [("3.5.7", {}), ("4.0.0", {POD_IP: "true"}), ("4.1.0", {}), ("4.2.0", {})],
)
def test_before_4_3_executors_connect_to_the_host_by_default(
    version: str, settings: Mapping[str, str]
) -> None:
    assert lines({HOST: "10.0.0.9", BOUND: "0.0.0.0", **settings}, version) == []


@pytest.mark.parametrize("version", ["4.1.0", "4.2.0"])
def test_from_4_1_executors_can_use_the_bind_address(version: str) -> None:
    settings = {HOST: "10.0.0.9", BOUND: "0.0.0.0", POD_IP: "TRUE"}
    assert len(lines(settings, version)) == 1


@pytest.mark.parametrize("version", ["4.3.0", "4.3.0-SNAPSHOT", "5.0.0.dev1"])
def test_a_reachable_address_is_not_reported(version: str) -> None:
    assert lines({HOST: "driver.jobs.svc", BOUND: "10.0.0.9"}, version) == []
    assert lines({HOST: "driver.jobs.svc"}, version) == []


@pytest.mark.parametrize("master", ["spark://h:7077", "yarn"])
def test_other_cluster_managers_ignore_the_bind_address(master: str) -> None:
    assert lines({HOST: "10.0.0.9", BOUND: "0.0.0.0"}, master=master) == []
