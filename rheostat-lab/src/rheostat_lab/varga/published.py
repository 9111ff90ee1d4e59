"""The findings of Varga, Balassi and Kiss (2021, section 5) on Flink, for each experiment."""

from __future__ import annotations

FINDINGS = {
    "snapshot": (
        "Figure 2: 1 to 8 GB, parallelism 1 and 3, n 5: linear in the size, at the rate of the file"
        " system (105 MB/s); no effect of the parallelism"
    ),
    "load-by-size": (
        "Figure 4: load time grows linearly with the state; R² 0.905 (longest task) and 0.833 (mean"
        " over tasks)"
    ),
    "load-by-parallelism": (
        "Figure 5: 10 GiB, parallelism 4 to 32, maximum 720: no clear correlation; divisors of the"
        " maximum are advised"
    ),
    "downtime": (
        "Figure 3: parallelism 2 to 8, 2 to 8 GB: no effect of either on the downtime; the"
        " scheduling of pods dominates"
    ),
}
