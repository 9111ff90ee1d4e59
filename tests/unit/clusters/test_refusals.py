from __future__ import annotations

import pytest

from rheostat.clusters.registry import why_refused

NAMESPACE = (
    "io.fabric8.kubernetes.client.KubernetesClientException: Failure executing: POST at:"
    ' https://127.0.0.1:1/api/v1/namespaces/jobs/configmaps. Message: namespaces "jobs" not found.'
)
FORBIDDEN = (
    'Message: pods is forbidden: User "spark" cannot create resource "pods" in API group "" in the'
    ' namespace "jobs". Received status: Status(code=403)'
)


@pytest.mark.parametrize(
    "said",
    [
        "Application application_1 submitted by user root to unknown queue: nope",
        "Failed to submit application_1 to YARN : Application application_1 submitted by user :"
        " root to unknown queue : nope",
        "to non-leaf queue: nope",
        "Queue nope does not exist",
    ],
)
def test_a_queue_that_is_not_there_is_named_with_its_setting(said: str) -> None:
    told = why_refused(said)
    assert told is not None
    assert told.startswith("YARN takes no application in the queue nope; set spark.yarn.queue")


def test_a_namespace_that_is_not_there_is_named_with_its_setting() -> None:
    told = why_refused(NAMESPACE)
    assert told is not None
    assert told.startswith("Kubernetes has no namespace jobs; set spark.kubernetes.namespace")


def test_a_right_that_lacks_is_told_as_the_rule_to_add() -> None:
    assert why_refused(FORBIDDEN) == (
        "the driver may not create pods in namespace jobs; add to its role:"
        ' apiGroups: [""], resources: ["pods"], verbs: ["create"]'
    )


def test_an_application_master_that_did_not_start_asks_for_the_way_to_the_driver() -> None:
    told = why_refused(
        "The YARN application has already ended! It might have been killed or the Application"
        " Master may have failed to start. Check the YARN application logs for more details."
    )
    assert told is not None
    assert "See spark.driver.host and spark.driver.port" in told


def test_a_token_that_is_not_taken_is_told() -> None:
    assert "spark.kubernetes.authenticate.oauthTokenFile" in str(why_refused("code=401, details"))


def test_other_ends_are_left_as_they_are() -> None:
    assert why_refused("java.lang.OutOfMemoryError: 401 bytes") is None
