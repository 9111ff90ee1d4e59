"""Measures what serving costs a driver: CPU seconds of a scrape of ``/metrics``, and CPU seconds
per second while one Chromium shows the page of a job that decides every 5 s. It measures CPU time
of the serving process, which hardly depends on the load of the computer; the baseline writes the
same journal without a browser.

Run: python benchmarks/serving_cost.py [--runs 3] [--seconds 60] [--scrapes 200], or --jobs 200 for
the list of jobs. Needs what first_paint.py needs.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from first_paint import READY, browser
from selenium.webdriver.support.ui import WebDriverWait
from status import INTERVAL_S, record, show, write

from rheostat.control.access import Access
from rheostat.control.control_app import control_app
from rheostat.control.control_service import ControlService
from rheostat.control.jobs import Jobs, jobs_of
from rheostat.control.journal_job import JournalJob
from rheostat.control.server import Server
from rheostat.journal.record import to_line
from rheostat.journal.retention import segments
from rheostat.metrics.prometheus import MetricsRegistry

SCRAPE_S = 15.0
CLIENT = "import sys, urllib.request\nfor _ in range(int(sys.argv[2])):\n    "
CLIENT += "urllib.request.urlopen(sys.argv[1]).read()"


def decide(journal: Path, metrics: MetricsRegistry, seconds: float) -> float:
    """Record a tick every 5 s for that long; return the CPU seconds per second."""
    begin_s, spent_s = time.monotonic(), time.process_time()
    while time.monotonic() - begin_s < seconds:
        tick = record(time.time(), 4, 4)
        metrics.add(tick)
        with segments(journal)[-1].open("a") as file:
            file.write(to_line(tick) + "\n")
        time.sleep(INTERVAL_S)
    return (time.process_time() - spent_s) / (time.monotonic() - begin_s)


def scraped(url: str, count: int) -> float:
    """Return the CPU seconds of a scrape."""
    spent_s = time.process_time()
    subprocess.run([sys.executable, "-c", CLIENT, f"{url}metrics", str(count)], check=True)
    return (time.process_time() - spent_s) / count


def watched(driver: Any, url: str, journal: Path, metrics: MetricsRegistry, s: float) -> float:
    """Return the CPU seconds per second while a browser shows the page."""
    driver.get(url)
    WebDriverWait(driver, 120, 0.1).until(lambda shown: shown.execute_script(READY))
    share = decide(journal, metrics, s)
    driver.get("about:blank")
    return share


def report(part: str, shares: list[float]) -> None:
    """Print the share of a core of each repetition."""
    middle, most = statistics.median(shares), max(shares)
    show(f"{part}: median {middle:.3%} of a core, most {most:.3%} (n = {len(shares)})")


def listed(folder: Path, count: int, runs: int) -> list[float]:
    """Return the CPU seconds of reading a list of ``count`` jobs with a new record each."""
    write(folder / "0", 0.25)
    for number in range(1, count):
        shutil.copytree(folder / "0", folder / str(number))
    jobs = jobs_of([str(folder)], lambda _: True)
    jobs.rows()
    spent = []
    for _ in range(runs):
        for place in folder.iterdir():
            with segments(place)[-1].open("a") as file:
                file.write(to_line(record(time.time(), 4, 4)) + "\n")
        begin_s = time.process_time()
        jobs.rows()
        spent.append(time.process_time() - begin_s)
    return spent


def main() -> None:
    """Serve a job, measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--scrapes", type=int, default=200)
    options.add_argument("--jobs", type=int, help="measure only a list of this many live jobs")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.jobs:
            spent = listed(Path(name), given.jobs, given.runs)
            middle = statistics.median(spent)
            show(f"{given.jobs} jobs: {middle:.2f} CPU s per reading (n = {given.runs})")
            return
        journal, metrics = Path(name) / "journal", MetricsRegistry()
        write(journal, 0.5)
        for number in range(100):
            metrics.add(record(time.time() - 500 + 5 * number, 4, 4 + number % 2))
        service: Any = ControlService(None, None, None, metrics=metrics)  # type: ignore[arg-type]
        job = JournalJob(journal, lambda _: True)
        server = Server(control_app(service, Access(), jobs=Jobs(lambda: [job])), "127.0.0.1", 0)
        driver = browser()
        try:
            scraped(server.url, 10)
            scrapes = [scraped(server.url, given.scrapes) / SCRAPE_S for _ in range(given.runs)]
            report(f"a scrape every {SCRAPE_S:g} s", scrapes)
            alone = [decide(journal, metrics, given.seconds) for _ in range(given.runs)]
            report("ticks without a browser", alone)
            shown = [
                watched(driver, server.url, journal, metrics, given.seconds)
                for _ in range(given.runs)
            ]
            report("ticks with a browser", shown)
        finally:
            driver.quit()
            server.close()


if __name__ == "__main__":
    main()
