import pytest

from rheostat_lab.report.finished_run import MachineSample
from rheostat_lab.report.machine_load import machine_load

IDLE = MachineSample(1.0, 0.4, 0.35, 0.5)


def test_only_samples_within_the_time_count() -> None:
    load = machine_load([IDLE, MachineSample(9.0, 1.0, 1.0, 4.0)], 0.0, 5.0)
    assert load is not None
    assert (load.cpu, load.load) == (0.4, 0.5)
    assert machine_load([IDLE], 2.0, 5.0) is None


@pytest.mark.parametrize(
    ("sample", "busy"),
    [
        (IDLE, False),
        (MachineSample(1.0, 0.95, 0.95, 1.0), True),
        (MachineSample(1.0, 0.7, 0.3, 1.0), True),
        (MachineSample(1.0, 0.5, 0.5, 2.5), True),
        (MachineSample(1.0, 0.8, None, None), False),
    ],
)
def test_a_computer_is_busy_if_tasks_wait_or_other_programs_use_much_cpu(
    sample: MachineSample, busy: bool
) -> None:
    load = machine_load([sample], 0.0, 5.0)
    assert load is not None
    assert load.busy is busy


def test_unknown_values_are_omitted_from_the_text() -> None:
    load = machine_load([MachineSample(1.0, 0.5, None, None)], 0.0, 5.0)
    assert load is not None
    assert load.in_words() == "CPU 50 % in use"
    assert load.others_cpu is None
