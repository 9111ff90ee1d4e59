from __future__ import annotations

from pathlib import Path

from rheostat_lab.clusters.kubernetes.service_names import Names


def test_a_service_resolves_to_the_pod_that_it_selects(tmp_path: Path) -> None:
    names = Names(tmp_path / "hosts")
    names.pod("jobs", "driver", {"role": "driver", "app": "a"}, "127.1.0.1")
    names.pod("jobs", "executor", {"role": "executor", "app": "a"}, "127.1.0.2")
    names.service("jobs", "svc", {"role": "driver"})
    line = "127.1.0.1 svc.jobs.svc svc.jobs.svc.cluster.local"
    assert line in (tmp_path / "hosts").read_text().splitlines()
    names.remove("jobs", "driver")
    assert "svc.jobs" not in (tmp_path / "hosts").read_text()


def test_a_pod_of_another_namespace_is_not_selected(tmp_path: Path) -> None:
    names = Names(tmp_path / "hosts")
    names.service("jobs", "svc", {"role": "driver"})
    names.pod("other", "driver", {"role": "driver"}, "127.1.0.1")
    assert "127.1.0.1" not in names.text()


def test_a_service_without_a_selector_has_no_name(tmp_path: Path) -> None:
    names = Names(tmp_path / "hosts")
    names.pod("jobs", "driver", {}, "127.1.0.1")
    names.service("jobs", "svc", None)
    assert "svc" not in names.text()


def test_localhost_is_always_resolved() -> None:
    assert "127.0.0.1 localhost" in Names(Path("hosts")).text()
