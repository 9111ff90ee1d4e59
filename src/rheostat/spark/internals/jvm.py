"""All internals behind one name, for callers that do not take the part that they need yet."""

from __future__ import annotations

from typing import Any

from rheostat.spark.internals.internals import internals_of


class Jvm:
    """The parts of ``Internals``, with the methods of all of them."""

    def __init__(self, spark: Any) -> None:
        parts = internals_of(spark)
        self.stopped = parts.gateway.stopped
        self.can_request = parts.executors.can_request
        self.can_decommission = parts.executors.can_decommission
        self.executor_ids = parts.executors.ids
        self.registered = parts.executors.registered
        self.hosts = parts.executors.hosts
        self.request_total = parts.executors.request_total
        self.decommission = parts.executors.decommission
        self.kill_idle = parts.executors.kill_idle
        self.kill = parts.executors.kill
        self.tasks_done = parts.executors.tasks_done
        self.preferred = parts.block_managers.preferred
        self.hide = parts.block_managers.hide
        self.hide_newcomers = parts.block_managers.hide_newcomers
        self.set_locality_wait = parts.locality_waits.set_wait
        self.set_process_wait = parts.locality_waits.set_process_wait
        self.cannot_place = parts.coordinator.cannot_place
        self.store = parts.coordinator.store
        self.location = parts.coordinator.location
        self.report = parts.coordinator.report
        self.state_folder = parts.queries.state_folder
        self.last_batch = parts.queries.last_batch
        self.batch_times = parts.queries.batch_times
        self.pauses_after = parts.queries.pauses_after
        self.trigger_s = parts.queries.trigger_s
        self.uses_python = parts.queries.uses_python
        self.listing = parts.files.listing
        self.bytes_in = parts.files.bytes_in
        self.text = parts.files.text
        self.thread_cpu_s = parts.process.thread_cpu_s
        self.process_id = parts.process.process_id
        self.hold = parts.tasks.hold
        self.run_python_on = parts.tasks.run_python_on
        self.rehearse_on = parts.rehearsal.rehearse_on
        self.rehearse_state_on = parts.rehearsal.rehearse_state_on
        self.preload = parts.state_loads.preload
