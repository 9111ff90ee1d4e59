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
    "message",
    [
        "Application application_1 submitted by user root to unknown queue: nope",
        "Failed to submit application_1 to YARN : Application application_1 submitted by user :"
        " root to unknown queue : nope",
        "to non-leaf queue: nope",
        "Queue nope does not exist",
    ],
)
def test_a_missing_queue_is_reported_with_its_setting(message: str) -> None:
    reason = why_refused(message)
    assert reason is not None
    assert reason.startswith("YARN accepts no applications in the queue nope; set spark.yarn.queue")


def test_a_missing_namespace_is_reported_with_its_setting() -> None:
    reason = why_refused(NAMESPACE)
    assert reason is not None
    assert reason.startswith("Kubernetes has no namespace jobs; set spark.kubernetes.namespace")


def test_a_missing_permission_is_reported_as_the_rbac_rule_to_add() -> None:
    assert why_refused(FORBIDDEN) == (
        "the driver may not create pods in namespace jobs; add to its role:"
        ' apiGroups: [""], resources: ["pods"], verbs: ["create"]'
    )


def test_a_failed_application_master_points_to_the_driver_address() -> None:
    reason = why_refused(
        "The YARN application has already ended! It might have been killed or the Application"
        " Master may have failed to start. Check the YARN application logs for more details."
    )
    assert reason is not None
    assert "See spark.driver.host and spark.driver.port" in reason


def test_a_rejected_token_names_its_setting() -> None:
    assert "spark.kubernetes.authenticate.oauthTokenFile" in str(why_refused("code=401, details"))


def test_other_failures_are_not_explained() -> None:
    assert why_refused("java.lang.OutOfMemoryError: 401 bytes") is None
