"""Reads the executors' pods with the client and the permissions of Spark's scheduler."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from rheostat.clusters.pods import Refused
from rheostat.spark.internals.gateway import ABSENT, Gateway

_RENEWED = "spark.kubernetes.authenticate.oauthTokenFile"
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
_BACKEND = "KubernetesClusterSchedulerBackend"
_APPLICATION, _ROLE = "spark-app-selector", "spark-role"


class KubernetesPods:
    """The application's pods according to the API server.

    * Calls: the private field ``KubernetesClusterSchedulerBackend.kubernetesClient`` and the list,
      and the dry-run creation (``dryRun``), of pods, the list of events, and ``raw`` with a
      review of the driver's own rights, of that client; ``setOauthToken`` of its configuration.
    * Without them: the reason for missing executors is unknown, and Spark requests refused
      executors every second.
    * Spark 3.5.7 and 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._configuration = gateway.context.getConf()
        self.namespace = str(self._configuration.get("spark.kubernetes.namespace", "default"))
        self._application = str(gateway.context.applicationId)
        self._client = self._find()

    @property
    def available(self) -> bool:
        """Whether the application runs on Kubernetes and its client is accessible."""
        return self._client is not None

    def _find(self) -> Any:
        try:
            backend = self._gateway.scala_context.schedulerBackend()
            if str(backend.getClass().getSimpleName()) != _BACKEND:
                return None
            return self._gateway.field(backend, "kubernetesClient")
        except ABSENT:
            return None

    def executors(self) -> dict[str, Any]:
        """Return Kubernetes' list of the executors' pods; raises ``Refused``."""
        return self._answer(
            lambda: (
                self._client.pods()
                .inNamespace(self.namespace)
                .withLabel(_APPLICATION, self._application)
                # The driver's pod has the same application label.
                .withLabel(_ROLE, "executor")
                .list()
            )
        )

    def events(self, pod: str) -> list[Any]:
        """Return the events of a pod, which may no longer exist; raises ``Refused``."""
        listed = self._answer(
            lambda: (
                self._client.v1()
                .events()
                .inNamespace(self.namespace)
                .withField("involvedObject.name", pod)
                .list()
            )
        )
        return list(listed.get("items") or [])

    def refusal(self, like: dict[str, Any]) -> str | None:
        """Return why the API server refuses another such pod (dry run); None if it accepts."""
        text = json.dumps(_another(like))
        try:
            kind = self._gateway.class_named("io.fabric8.kubernetes.api.model.Pod")
            pod = self._serialization().unmarshal(text, kind)
            self._client.pods().inNamespace(self.namespace).resource(pod).dryRun(True).create()
        # Before its base class: only an error of the API server is a refusal.
        except Py4JJavaError as fault:
            return str(_refused(fault))
        except Py4JError:
            return None
        return None

    def rights(self) -> dict[str, Any]:
        """Return the driver's permissions (``SelfSubjectRulesReview``); raises ``Refused``."""
        kind, version = "SelfSubjectRulesReview", "authorization.k8s.io/v1"
        review = {"kind": kind, "apiVersion": version, "spec": {"namespace": self.namespace}}
        try:
            generic = self._gateway.class_named(
                "io.fabric8.kubernetes.api.model.GenericKubernetesResource"
            )
            body = self._serialization().unmarshal(json.dumps(review), generic)
            answer = json.loads(str(self._client.raw(_REVIEWS, "POST", body)))
        except Py4JJavaError as fault:
            raise _refused(fault) from None
        except (*ABSENT, ValueError) as fault:
            raise Refused(0, f"this Spark's client does not know the call: {fault}") from None
        return dict(answer.get("status") or {})

    def renew_token(self) -> None:
        """Pass the current token of its file to Spark's client, which reads the file only once."""
        file = self._configuration.get(_RENEWED, None)
        if not file:
            return
        with suppress(OSError, *ABSENT):
            token = Path(str(file)).read_text().strip()
            self._client.getConfiguration().setOauthToken(token)

    def _answer(self, call: Any) -> dict[str, Any]:
        try:
            return dict(json.loads(str(self._serialization().asJson(call()))))
        except Py4JJavaError as fault:
            raise _refused(fault) from None
        except ABSENT as fault:
            raise Refused(0, f"this Spark's client does not know the call: {fault}") from None

    def _serialization(self) -> Any:
        return self._gateway.jvm.io.fabric8.kubernetes.client.utils.Serialization


def _another(like: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a pod with its own name and without the fields that the server added."""
    pod = copy.deepcopy(like)
    metadata = pod["metadata"]
    kept = {name: metadata[name] for name in ("labels", "namespace") if name in metadata}
    # The server completes the name: the original's is taken and would cause a refusal.
    pod["metadata"] = {**kept, "generateName": "rheostat-asks-"}
    pod.pop("status", None)
    # With a node in it, the pod would bypass the scheduler and thus a lack of room.
    pod.get("spec", {}).pop("nodeName", None)
    return pod


def _refused(fault: Py4JJavaError) -> Refused:
    """Return the API server's error from the exception of the client."""
    cause, code, messages = fault.java_exception, 0, []
    while cause is not None:
        messages.append(f"{cause.getClass().getSimpleName()}: {cause.getMessage()}".splitlines()[0])
        if str(cause.getClass().getName()).endswith(".KubernetesClientException"):
            code = int(cause.getCode())
            status = cause.getStatus()
            if code > 0 and status is not None:
                return Refused(code, str(status.getMessage())[:300])
        cause = cause.getCause()
    return Refused(max(0, code), messages[-1][:300] if messages else "no answer")
