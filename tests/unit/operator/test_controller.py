"""The controller with a cluster and control APIs in memory."""

# mypy: disallow-untyped-calls=False

import asyncio
from dataclasses import replace
from typing import Any

from tests.unit.operator import virtual_time

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing
from rheostat.operator.controller import Controller
from rheostat.operator.driver_pod import INCARNATION, SIZE
from rheostat.operator.operator_ports import ApiError
from rheostat.operator.streaming_application import own_labels


class Api:
    def __init__(self):
        self.bodies: dict[str, Any] = {}
        self.done: list[Any] = []

    async def write_status(self, namespace, name, status):
        self.done.append(("status", name))
        self.bodies[name]["status"] = status

    async def write_scale(self, namespace, name, replicas):
        self.done.append(("scale", name, replicas))
        self.bodies[name]["spec"]["replicas"] = replicas

    async def secret(self, namespace, name):
        return {}

    async def start(self, pod):
        self.done.append(("start", pod["metadata"]["name"]))

    async def stop(self, namespace, name, uid):
        self.done.append(("stop", name))

    async def tell(self, body, kind, reason, message):
        self.done.append(("event", body["metadata"]["name"], reason))


class Agent:
    def __init__(self):
        self.report = Report(executors=2, target=2, phase="steady", application="app-1")
        self.sizings: list[Sizing] = []
        self.refuses = ""

    async def ask(self, address):
        if self.refuses == "NoAnswer":
            raise ApiError("NoAnswer", "nobody there")
        return self.report

    async def direct(self, address, sizing):
        if self.refuses:
            raise ApiError(self.refuses, "refused")
        self.sizings.append(sizing)
        size = sizing.size or self.report.target
        self.report = replace(self.report, sizing=sizing, executors=size, target=size)
        return self.report

    async def drain(self, address):
        return self.report


def body(name="etl", **spec):
    spec.setdefault("driver", {"selector": {"app": "etl"}})
    meta = {"name": name, "namespace": "n", "uid": f"uid-{name}", "generation": 1}
    return {"metadata": {**meta, "creationTimestamp": name}, "spec": {"mode": "external", **spec}}


def pod(phase="Running"):
    meta = {"name": "d", "namespace": "n", "uid": "p"}
    return {
        "metadata": {**meta, "labels": {"app": "etl", "spark-role": "driver"}},
        "status": {"phase": phase, "podIP": "10.0.0.1"},
    }


def play_scenario(play, refuses="", **spec):
    """Run ``play(controller, api, agent)`` with one resource and its driver; return the fakes."""
    api, agent = Api(), Agent()
    agent.refuses = refuses

    async def run():
        controller = Controller(api, agent, round_s=0.02)
        api.bodies["etl"] = body(**spec)
        controller.update_pod(pod())
        controller.update(dict(api.bodies["etl"]))
        await asyncio.sleep(0.1)
        await play(controller, api, agent)
        await asyncio.sleep(0.1)
        controller.close()

    virtual_time.run(run())
    return api, agent


async def no_action(controller, api, agent):
    pass


def reason(api):
    conditions = api.bodies["etl"]["status"]["conditions"]
    return next(condition["reason"] for condition in conditions if condition["type"] == "Ready")


def test_a_size_is_sent_once_and_its_status_is_written_once():
    api, agent = play_scenario(no_action, replicas=5)
    assert [sizing.size for sizing in agent.sizings] == [5]
    assert api.bodies["etl"]["status"]["replicas"] == 5
    assert len([action for action in api.done if action[0] == "status"]) == 2


def test_a_rescale_emits_one_event():
    api, _ = play_scenario(no_action, replicas=5)
    assert api.done.count(("event", "etl", "Rescaled")) == 1


def test_a_changed_spec_is_sent_to_the_driver():
    async def scaled(controller, api, agent):
        controller.update(body(replicas=7))

    _, agent = play_scenario(scaled, replicas=5)
    assert [sizing.size for sizing in agent.sizings] == [5, 7]


def test_a_wrong_token_sets_a_condition():
    api, agent = play_scenario(no_action, refuses="WrongToken", replicas=5)
    assert (reason(api), agent.sizings) == ("WrongToken", [])


def test_a_restarted_driver_receives_the_size_again():
    async def restarted(controller, api, agent):
        agent.report = replace(agent.report, sizing=Sizing(), target=2)

    _, agent = play_scenario(restarted, replicas=5)
    assert [sizing.size for sizing in agent.sizings] == [5, 5]


def test_the_younger_of_two_resources_is_inactive():
    async def second(controller, api, agent):
        api.bodies["zz"] = body("zz", replicas=9)
        controller.update(dict(api.bodies["zz"]))
        await asyncio.sleep(0.1)

    api, agent = play_scenario(second, replicas=5)
    assert [sizing.size for sizing in agent.sizings] == [5]
    assert ("event", "zz", "TwoResources") in api.done


def test_an_unscalable_driver_restarts_once_its_size_is_stable():
    """With a test clock, the driver runs for long, and the size is written again each second."""
    now, drains = [1000.0], []

    class Stiff(Agent):
        async def drain(self, address):
            drains.append(now[0])
            self.report = replace(self.report, draining=True)
            return self.report

    async def run():
        api, agent = Api(), Stiff()
        agent.report = replace(agent.report, can_scale=False, cannot=("a test",))
        controller = Controller(api, agent, round_s=0.01, clock=lambda: now[0])
        own: Any = {"driver": {"template": {"spec": {}}}}
        driver = pod()
        driver["metadata"]["labels"] = own_labels("etl") | {"spark-role": "driver"}
        driver["metadata"]["annotations"] = {INCARNATION: "1", SIZE: "2"}
        api.bodies["etl"] = body(replicas=2, **own)
        controller.update_pod(driver)
        controller.update(dict(api.bodies["etl"]))
        await asyncio.sleep(0.05)
        now[0] += 100.0
        for second in range(20):
            now[0] += 1.0
            controller.update(body(replicas=3 + second % 2, **own))
            await asyncio.sleep(0.02)
        assert drains == []
        assert reason(api) == "Waiting"
        now[0] += 10.0
        await asyncio.sleep(0.05)
        controller.close()

    virtual_time.run(run())
    assert drains == [1130.0]


def test_a_deleted_resource_is_not_reconciled():
    async def deleted(controller, api, agent):
        controller.update(body(replicas=5), gone=True)
        controller.update(
            body(replicas=5) | {"metadata": {**body()["metadata"], "deletionTimestamp": "t"}}
        )
        agent.sizings.clear()
        agent.report = replace(agent.report, sizing=Sizing())

    _, agent = play_scenario(deleted, replicas=5)
    assert agent.sizings == []


def test_an_unreachable_driver_sets_a_condition():
    async def silent(controller, api, agent):
        agent.refuses = "NoAnswer"

    api, _ = play_scenario(silent, replicas=5)
    assert reason(api) == "NoAnswer"
    assert api.bodies["etl"]["status"]["replicas"] == 5


def test_metrics_come_from_the_agent_or_are_absent():
    reports = []

    async def ask(controller, api, agent):
        reports.append(await controller.report("n", "etl"))
        reports.append(await controller.report("n", "other"))

    play_scenario(ask, replicas=5)
    assert (reports[0].executors, reports[1]) == (5, None)


def test_an_ineffective_hpa_is_reported_and_scale_is_restored():
    async def fought(controller, api, agent):
        for _ in range(3):
            assert reason(api) == "Sized"
            controller.update(body(mode="policy", replicas=9))
            await asyncio.sleep(0.1)
            controller.update(body(mode="policy", replicas=2))  # the event of our own write
            await asyncio.sleep(0.05)

    api, agent = play_scenario(fought, mode="policy", replicas=5)
    ready = api.bodies["etl"]["status"]["conditions"][0]
    assert (ready["status"], ready["reason"]) == ("True", "ScaleUnread")
    assert "another controller keeps writing 9 into scale" in ready["message"]
    assert ("event", "etl", "ScaleUnread") in api.done
    assert {action for action in api.done if action[0] == "scale"} == {("scale", "etl", 2)}
    assert agent.report.target == 2


def test_sizes_written_in_external_mode_are_not_a_conflict():
    async def scaled(controller, api, agent):
        for size in (6, 7, 8, 9):
            controller.update(body(replicas=size))
            await asyncio.sleep(0.05)

    api, _ = play_scenario(scaled, replicas=5)
    assert reason(api) == "Sized"
