from __future__ import annotations

from rheostat.clusters.pods import Pod, Unregistered


def pod(executor: int, phase: str = "Running") -> Pod:
    return Pod(executor=str(executor), name=f"a-exec-{executor}", node="n", phase=phase)


def test_pods_that_end_without_registering_are_reported() -> None:
    unregistered = Unregistered()
    for number in range(1, 4):
        unregistered.record([pod(number)], ())
    assert (
        unregistered.words()
        == "2 pods have ended before their executors registered, the last a-exec-2"
    )


def test_a_failed_pod_counts_once() -> None:
    unregistered = Unregistered()
    for _ in range(3):
        unregistered.record([pod(1, "Failed"), pod(2, "Failed")], ())
    assert unregistered.words().startswith("2 pods")


def test_one_pod_is_not_reported() -> None:
    unregistered = Unregistered()
    unregistered.record([pod(1)], ())
    unregistered.record([], ())
    assert unregistered.words() == ""


def test_registered_executors_do_not_count() -> None:
    unregistered = Unregistered()
    unregistered.record([pod(1), pod(2)], ())
    unregistered.record([pod(1), pod(2)], ("1", "2"))
    unregistered.record([], ())
    assert unregistered.words() == ""


def test_a_registration_resets_the_count() -> None:
    unregistered = Unregistered()
    unregistered.record([pod(1, "Failed"), pod(2, "Failed")], ())
    unregistered.record([pod(3)], ("3",))
    assert unregistered.words() == ""


def test_pods_that_never_ran_do_not_count() -> None:
    unregistered = Unregistered()
    unregistered.record([pod(1, "Pending"), pod(2, "Pending")], ())
    unregistered.record([], ())
    assert unregistered.words() == ""
