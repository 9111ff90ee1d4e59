from __future__ import annotations

from collections.abc import Mapping

import pytest

from rheostat.clusters.registry import cluster_manager

MASTER = "k8s://https://h:6443"
HOST, BOUND = "spark.driver.host", "spark.driver.bindAddress"
POD_IP = "spark.kubernetes.executor.useDriverPodIP"


def lines(given: Mapping[str, str], version: str = "4.3.0", master: str = MASTER) -> list[str]:
    manager = cluster_manager(master)
    findings = manager.address_findings(lambda name, default: given.get(name, default), version)
    return [finding.line for finding in findings]


@pytest.mark.parametrize("anywhere", ["0.0.0.0", "::", "[::]", "0:0:0:0:0:0:0:0"])
def test_a_driver_bound_to_all_addresses_is_not_called_there(anywhere: str) -> None:
    given = {HOST: "10.0.0.9", BOUND: anywhere}
    (line,) = lines(given)
    assert f"at {anywhere} (spark.driver.bindAddress)" in line
    assert f"add {POD_IP}=false and {HOST}=" in line
    assert lines({**given, POD_IP: "false"}) == []


@pytest.mark.parametrize("own", ["127.0.0.1", "127.0.1.1", "::1", "localhost"])
def test_a_pod_that_is_sent_to_a_loopback_address_finds_itself(own: str) -> None:
    assert f"add {BOUND}=" in lines({HOST: "10.0.0.9", BOUND: own})[0]
    assert f"add {HOST}=" in lines({HOST: own}, "4.0.0")[0]
    # Without a bind address a driver is bound to its host.
    assert f"at {own} ({BOUND})" in lines({HOST: own})[0]


@pytest.mark.parametrize(
    ("version", "given"),
    [("3.5.7", {}), ("4.0.0", {POD_IP: "true"}), ("4.1.0", {}), ("4.2.0", {})],
)
def test_before_4_3_executors_call_the_host_unless_they_are_told_otherwise(
    version: str, given: Mapping[str, str]
) -> None:
    assert lines({HOST: "10.0.0.9", BOUND: "0.0.0.0", **given}, version) == []


@pytest.mark.parametrize("version", ["4.1.0", "4.2.0"])
def test_from_4_1_on_they_can_be_told_to_call_the_bind_address(version: str) -> None:
    given = {HOST: "10.0.0.9", BOUND: "0.0.0.0", POD_IP: "TRUE"}
    assert len(lines(given, version)) == 1


@pytest.mark.parametrize("version", ["4.3.0", "4.3.0-SNAPSHOT", "5.0.0.dev1"])
def test_an_address_that_pods_may_reach_is_nothing_to_speak_of(version: str) -> None:
    assert lines({HOST: "driver.jobs.svc", BOUND: "10.0.0.9"}, version) == []
    assert lines({HOST: "driver.jobs.svc"}, version) == []


@pytest.mark.parametrize("master", ["spark://h:7077", "yarn"])
def test_elsewhere_the_bind_address_is_nobodys_way(master: str) -> None:
    assert lines({HOST: "10.0.0.9", BOUND: "0.0.0.0"}, master=master) == []
