import urllib.error
from email.message import Message

import pytest

from rheostat_lab.clusters.kubernetes.objects import create, delete, place


class Api:
    """An API server that answers every request with one status code."""

    def __init__(self, code: int = 200) -> None:
        self.code = code
        self.asked: list[tuple[str, str]] = []

    def request(self, verb: str, path: str, body: object = None) -> None:
        self.asked.append((verb, path))
        if self.code != 200:
            raise urllib.error.HTTPError(path, self.code, "no", Message(), None)


def made(version: str, kind: str, namespace: str = "") -> dict[str, object]:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "a", **({"namespace": namespace} if namespace else {})},
    }


def test_an_object_has_the_place_of_its_kind() -> None:
    assert place(made("v1", "Namespace")) == "/api/v1/namespaces"
    assert place(made("v1", "Pod", "n")) == "/api/v1/namespaces/n/pods"
    assert place(made("rbac.authorization.k8s.io/v1", "ClusterRole")) == (
        "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    )


def test_what_is_there_already_or_gone_already_is_no_fault() -> None:
    create(there := Api(409), made("v1", "Pod", "n"))
    delete(gone := Api(404), made("v1", "Pod", "n"))
    assert there.asked == [("POST", "/api/v1/namespaces/n/pods")]
    assert gone.asked == [("DELETE", "/api/v1/namespaces/n/pods/a")]


@pytest.mark.parametrize("call", [create, delete])
def test_what_is_refused_is_a_fault(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(OSError, match="403"):
        call(Api(403), made("v1", "Pod", "n"))
