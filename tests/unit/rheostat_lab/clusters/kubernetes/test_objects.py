import urllib.error
from email.message import Message

import pytest

from rheostat_lab.clusters.kubernetes.objects import create, delete, place


class Api:
    """An API server that answers every request with one status code."""

    def __init__(self, code: int = 200) -> None:
        self.code = code
        self.requests: list[tuple[str, str]] = []

    def request(self, verb: str, path: str, body: object = None) -> None:
        self.requests.append((verb, path))
        if self.code != 200:
            raise urllib.error.HTTPError(path, self.code, "no", Message(), None)


def made(version: str, kind: str, namespace: str = "") -> dict[str, object]:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "a", **({"namespace": namespace} if namespace else {})},
    }


def test_an_object_has_the_path_of_its_kind() -> None:
    assert place(made("v1", "Namespace")) == "/api/v1/namespaces"
    assert place(made("v1", "Pod", "n")) == "/api/v1/namespaces/n/pods"
    assert place(made("rbac.authorization.k8s.io/v1", "ClusterRole")) == (
        "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    )


def test_creating_an_existing_or_deleting_a_missing_object_is_not_a_failure() -> None:
    create(existing := Api(409), made("v1", "Pod", "n"))
    delete(gone := Api(404), made("v1", "Pod", "n"))
    assert existing.requests == [("POST", "/api/v1/namespaces/n/pods")]
    assert gone.requests == [("DELETE", "/api/v1/namespaces/n/pods/a")]


@pytest.mark.parametrize("call", [create, delete])
def test_a_rejected_request_is_a_failure(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(OSError, match="403"):
        call(Api(403), made("v1", "Pod", "n"))
