"""The keys of a local control plane: for tokens of service accounts, and for the aggregation layer,
which forwards requests to the API of an operator (``external.metrics.k8s.io``).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from rheostat.errors import BadInput

FRONT_AUTHORITY = "front-ca.crt"
"""The authority whose certificates identify the API server's aggregation layer."""

_CURVE = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
_COMMANDS = (
    "genrsa -out sa.key 2048",
    "rsa -in sa.key -pubout -out sa.pub",
    f"req -x509 {_CURVE} -days 999 -keyout front-ca.key -out {FRONT_AUTHORITY} -subj /CN=front-ca",
    f"req {_CURVE} -keyout front.key -out front.csr -subj /CN=front",
    f"x509 -req -in front.csr -CA {FRONT_AUTHORITY} -CAkey front-ca.key -CAcreateserial"
    " -out front.crt -days 999",
)


def make_keys(folder: Path) -> None:
    """Create all keys in a folder; raises BadInput without openssl."""
    for words in _COMMANDS:
        try:
            subprocess.run(["openssl", *words.split()], cwd=folder, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as fault:
            raise BadInput(f"a Kubernetes here needs the program openssl: {fault}") from None


def aggregation_flags() -> list[str]:
    """Return the flags of an API server for the keys of its aggregation layer."""
    return [
        "--proxy-client-cert-file=front.crt",
        "--proxy-client-key-file=front.key",
        f"--requestheader-client-ca-file={FRONT_AUTHORITY}",
        "--requestheader-allowed-names=front",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
    ]
