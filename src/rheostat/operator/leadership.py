"""One of several operators leads: the others wait, by a Lease of the cluster."""

from __future__ import annotations

import logging
import os
import threading

from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

_log = logging.getLogger("rheostat")


def lead(namespace: str, name: str, me: str) -> None:
    """Return once we lead; who loses the lease afterwards ends its process at once, so that never
    two lead.
    """
    leads = threading.Event()

    def lost() -> None:
        _log.warning("rheostat: the lease %s/%s is lost; another operator goes on", namespace, name)
        os._exit(1)

    terms = electionconfig.Config(
        LeaseLock(name, namespace, me),
        lease_duration=15,
        renew_deadline=10,
        retry_period=2,
        onstarted_leading=leads.set,
        onstopped_leading=lost,
    )
    election = leaderelection.LeaderElection(terms)
    threading.Thread(target=election.run, name="rheostat-lease", daemon=True).start()
    leads.wait()
