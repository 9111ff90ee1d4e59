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
        self.told: list[Sizing] = []
        self.refuses = ""

    async def ask(self, address):
        if self.refuses == "NoAnswer":
            raise ApiError("NoAnswer", "nobody there")
        return self.report

    async def direct(self, address, sizing):
        if self.refuses:
            raise ApiError(self.refuses, "refused")
        self.told.append(sizing)
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


def played(play, refuses="", **spec):
    """Run ``play(keeper, api, agent)`` with one resource and its driver, and return both fakes."""
    api, agent = Api(), Agent()
    agent.refuses = refuses

    async def run():
        keeper = Controller(api, agent, round_s=0.02)
        api.bodies["etl"] = body(**spec)
        keeper.update_pod(pod())
        keeper.update(dict(api.bodies["etl"]))
        await asyncio.sleep(0.1)
        await play(keeper, api, agent)
        await asyncio.sleep(0.1)
        keeper.close()

    virtual_time.run(run())
    return api, agent


async def nothing(keeper, api, agent):
    pass


def reason(api):
    said = api.bodies["etl"]["status"]["conditions"]
    return next(each["reason"] for each in said if each["type"] == "Ready")


def test_a_size_is_told_once_and_the_status_written_once_it_stands():
    api, agent = played(nothing, replicas=5)
    assert [sizing.size for sizing in agent.told] == [5]
    assert api.bodies["etl"]["status"]["replicas"] == 5
    assert len([each for each in api.done if each[0] == "status"]) == 2


def test_a_rescale_is_one_event():
    api, _ = played(nothing, replicas=5)
    assert api.done.count(("event", "etl", "Rescaled")) == 1


def test_a_change_of_the_spec_is_told():
    async def scaled(keeper, api, agent):
        keeper.update(body(replicas=7))

    _, agent = played(scaled, replicas=5)
    assert [sizing.size for sizing in agent.told] == [5, 7]


def test_a_wrong_token_is_a_condition():
    api, agent = played(nothing, refuses="WrongToken", replicas=5)
    assert (reason(api), agent.told) == ("WrongToken", [])


def test_a_driver_that_comes_back_is_told_again():
    async def restarted(keeper, api, agent):
        agent.report = replace(agent.report, sizing=Sizing(), target=2)

    _, agent = played(restarted, replicas=5)
    assert [sizing.size for sizing in agent.told] == [5, 5]


def test_the_younger_of_two_resources_waits():
    async def second(keeper, api, agent):
        api.bodies["zz"] = body("zz", replicas=9)
        keeper.update(dict(api.bodies["zz"]))
        await asyncio.sleep(0.1)

    api, agent = played(second, replicas=5)
    assert [sizing.size for sizing in agent.told] == [5]
    assert ("event", "zz", "TwoResources") in api.done


def test_a_driver_that_cannot_be_scaled_is_restarted_once_a_size_has_stood():
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
        keeper = Controller(api, agent, round_s=0.01, clock=lambda: now[0])
        own: Any = {"driver": {"template": {"spec": {}}}}
        driver = pod()
        driver["metadata"]["labels"] = own_labels("etl") | {"spark-role": "driver"}
        driver["metadata"]["annotations"] = {INCARNATION: "1", SIZE: "2"}
        api.bodies["etl"] = body(replicas=2, **own)
        keeper.update_pod(driver)
        keeper.update(dict(api.bodies["etl"]))
        await asyncio.sleep(0.05)
        now[0] += 100.0
        for second in range(20):
            now[0] += 1.0
            keeper.update(body(replicas=3 + second % 2, **own))
            await asyncio.sleep(0.02)
        assert drains == []
        assert reason(api) == "Waiting"
        now[0] += 10.0
        await asyncio.sleep(0.05)
        keeper.close()

    virtual_time.run(run())
    assert drains == [1130.0]


def test_a_resource_that_is_gone_is_not_looked_at():
    async def deleted(keeper, api, agent):
        keeper.update(body(replicas=5), gone=True)
        keeper.update(
            body(replicas=5) | {"metadata": {**body()["metadata"], "deletionTimestamp": "t"}}
        )
        agent.told.clear()
        agent.report = replace(agent.report, sizing=Sizing())

    _, agent = played(deleted, replicas=5)
    assert agent.told == []


def test_a_driver_that_does_not_answer_is_said():
    async def silent(keeper, api, agent):
        agent.refuses = "NoAnswer"

    api, _ = played(silent, replicas=5)
    assert reason(api) == "NoAnswer"
    assert api.bodies["etl"]["status"]["replicas"] == 5


def test_the_metrics_are_those_of_the_agent_and_none_for_an_unknown_application():
    seen = []

    async def ask(keeper, api, agent):
        seen.append(await keeper.report("n", "etl"))
        seen.append(await keeper.report("n", "other"))

    played(ask, replicas=5)
    assert (seen[0].executors, seen[1]) == (5, None)


def test_an_hpa_that_nobody_reads_is_named_and_scale_goes_back_to_the_size_in_force():
    async def fought(keeper, api, agent):
        for _ in range(3):
            assert reason(api) == "Sized"
            keeper.update(body(mode="policy", replicas=9))
            await asyncio.sleep(0.1)
            keeper.update(body(mode="policy", replicas=2))  # the event of our own write
            await asyncio.sleep(0.05)

    api, agent = played(fought, mode="policy", replicas=5)
    ready = api.bodies["etl"]["status"]["conditions"][0]
    assert (ready["status"], ready["reason"]) == ("True", "ScaleUnread")
    assert "another controller keeps writing 9 into scale" in ready["message"]
    assert ("event", "etl", "ScaleUnread") in api.done
    assert {each for each in api.done if each[0] == "scale"} == {("scale", "etl", 2)}
    assert agent.report.target == 2


def test_sizes_that_are_written_where_they_are_read_are_no_fight():
    async def scaled(keeper, api, agent):
        for size in (6, 7, 8, 9):
            keeper.update(body(replicas=size))
            await asyncio.sleep(0.05)

    api, _ = played(scaled, replicas=5)
    assert reason(api) == "Sized"
