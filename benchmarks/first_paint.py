"""Measures how soon Chromium paints the page of a journal of 30 days at a decision every 5 s,
served by a newly started server.

Run: python benchmarks/first_paint.py [--days 30] [--runs 10] [--journal FOLDER]. Needs chromium and
chromedriver (Debian: chromium, chromium-driver) and the extras serve and test. Writing the journal
takes a few minutes; an existing one is only read.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait
from status import show, write

WATCH = """
window.painted = {};
new MutationObserver(() => {
  for (const [name, selector] of [["word", ".health h1"], ["charts", ".plot canvas"]]) {
    if (painted[name] || !document.querySelector(selector)) continue;
    painted[name] = 1;
    requestAnimationFrame(() => setTimeout(() => { painted[name] = performance.now() / 1000; }));
  }
}).observe(document, { childList: true, subtree: true });
"""
MONTH = """
const done = arguments[arguments.length - 1], begin = performance.now();
state.seconds = 2592000;
refreshSeries().then(() => requestAnimationFrame(() => setTimeout(
  () => done((performance.now() - begin) / 1000))));
"""
FIRST = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime / 1000"
READY = "return painted.word > 1e-9 && painted.charts > 1e-9 && painted.charts !== 1"


def browser() -> Any:
    """Start a headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(word)
    service = webdriver.ChromeService(executable_path=str(shutil.which("chromedriver")))
    started = webdriver.Chrome(options=options, service=service)
    started.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    return started


def painted(driver: Any, journal: Path) -> Mapping[str, float]:
    """Return the seconds until each part is painted, with a new server."""
    command = [sys.executable, "-m", "rheostat", "serve", str(journal), "--at", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline() if server.stdout else ""
        url = line.split(" at ")[1].split()[0]
        driver.get("about:blank")
        driver.get(url)
        WebDriverWait(driver, 60, 0.02).until(lambda shown: shown.execute_script(READY))
        times = {"first contentful paint": driver.execute_script(FIRST)}
        times |= driver.execute_script("return painted")
        return {**times, "30 days, after a click": driver.execute_async_script(MONTH)}
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Write the journal, measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--days", type=float, default=30.0)
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--journal", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        journal = given.journal or Path(name) / "journal"
        if not given.journal:
            show(f"{write(journal, given.days):,} records")
        driver = browser()
        try:
            painted(driver, journal)  # an unmeasured run fills the byte code and file caches
            runs = [painted(driver, journal) for _ in range(given.runs)]
        finally:
            driver.quit()
    for part in runs[0]:
        times = [run[part] for run in runs]
        middle, longest = statistics.median(times), max(times)
        show(f"{part}: median {middle:.2f} s, longest {longest:.2f} s (n = {len(times)})")


if __name__ == "__main__":
    main()
