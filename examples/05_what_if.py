"""Print what a policy would have cost on a recording: ``python examples/05_what_if.py JOURNAL``."""

import sys
from pathlib import Path

from rheostat import Limits, Slo
from rheostat.replay.recording import read
from rheostat.sim.fitting.counterfactual import Question, whatif
from rheostat.sim.fitting.recorded_run import recorded

run = recorded(read(Path(sys.argv[1])))
question = Question(policy="predictive", slo=Slo(latency_s=10), limits=Limits.between(1, 8))
answer = whatif(run, question)
print(f"recorded: {answer.recorded.slot_hours:.2f} slot-hours")
print(f"with {answer.policy}: {answer.simulated_with_policy.slot_hours:.2f}")
print(f"objective attained: {'yes' if answer.simulated_with_policy.attained else 'no'}")
