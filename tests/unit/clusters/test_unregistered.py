from __future__ import annotations

from rheostat.clusters.pods import Pod, Unregistered


def pod(executor: int, phase: str = "Running") -> Pod:
    return Pod(executor=str(executor), name=f"a-exec-{executor}", node="n", phase=phase)


def test_pods_that_run_and_end_without_registering_are_told() -> None:
    seen = Unregistered()
    for number in range(1, 4):
        seen.record([pod(number)], ())
    assert seen.words() == "2 pods have ended before their executors registered, the last a-exec-2"


def test_a_pod_that_is_seen_failed_counts_once() -> None:
    seen = Unregistered()
    for _ in range(3):
        seen.record([pod(1, "Failed"), pod(2, "Failed")], ())
    assert seen.words().startswith("2 pods")


def test_one_pod_is_no_sign() -> None:
    seen = Unregistered()
    seen.record([pod(1)], ())
    seen.record([], ())
    assert seen.words() == ""


def test_executors_that_have_registered_do_not_count() -> None:
    seen = Unregistered()
    seen.record([pod(1), pod(2)], ())
    seen.record([pod(1), pod(2)], ("1", "2"))
    seen.record([], ())
    assert seen.words() == ""


def test_a_registration_ends_the_count() -> None:
    seen = Unregistered()
    seen.record([pod(1, "Failed"), pod(2, "Failed")], ())
    seen.record([pod(3)], ("3",))
    assert seen.words() == ""


def test_pods_that_were_never_made_to_run_do_not_count() -> None:
    seen = Unregistered()
    seen.record([pod(1, "Pending"), pod(2, "Pending")], ())
    seen.record([], ())
    assert seen.words() == ""
