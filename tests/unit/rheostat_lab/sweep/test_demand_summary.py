from rheostat.sim.demand import DemandCurve
from rheostat_lab.sweep.demand_summary import Demand, demands


def test_across_seeds_an_insufficient_size_exceeds_the_tried_ones() -> None:
    rates, most = (10.0, 20.0), 5
    curves = [
        DemandCurve(rates, (1, 4), (True, True)),
        DemandCurve(rates, (2, most), (True, False)),
        DemandCurve(rates, (2, most), (True, False)),
    ]
    assert demands(curves) == (
        Demand(rate_per_s=10.0, executors=2, low=1, high=2),
        Demand(rate_per_s=20.0, executors=None, low=4, high=None),
    )
