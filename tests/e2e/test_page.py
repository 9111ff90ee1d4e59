# mypy: disallow-untyped-calls=False
"""The page in a real Chromium: its content, its controls, and the findings of axe."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="comes with the extra test")
pytest.importorskip("uvicorn", reason="comes with the extra serve")
pytest.importorskip("axe_core_python", reason="comes with the extra test")

import axe_core_python  # type: ignore[import-untyped]
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from tests.unit.control.test_server import server_service

from rheostat.cli.recordings.advise_pages import page_of
from rheostat.config import GuardOptions, LoopOptions
from rheostat.control.access import Access
from rheostat.control.control_app import control_app
from rheostat.control.jobs import Jobs, jobs_of
from rheostat.control.journal_job import JournalJob
from rheostat.control.page_app import reading_app
from rheostat.control.page_text import frozen_html
from rheostat.control.server import Server
from rheostat.guards import guards_of
from rheostat.journal.folder import FolderJournal
from rheostat.journal.reading import last_record
from rheostat.journal.record import from_line, to_line
from rheostat.journal.starts import LIVE, STARTS_FILE, End, Start
from rheostat.model import Limits, Slo
from rheostat.policies.registry import create
from rheostat.sim.engine import simulate
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.day import Day

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="there is no Chromium with its driver"),
]
AXE = next(Path(axe_core_python.__file__).parent.rglob("axe.min.js"))
PATIENCE_S = 300.0  # nothing waits that long, except on a computer that is busy
NAME = "<img src=x onerror=document.title='hacked'>"
RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run().then(found => done(found.violations.map(
    rule => [rule.id, rule.nodes.map(node => node.html.slice(0, 120))])));
"""


def journal(folder: Path, seconds: float = 900.0, name: str = "orders") -> FolderJournal:
    """Write the production loop's decisions for a simulated job, up to now."""
    plant = SparkPlant(
        SparkParameters(executors=2, slots_per_executor=2, trigger_s=2.0, source_row_s=0.0016),
        Day(low=200.0, peak=3000.0, day_s=seconds),
        seed=1,
    )
    guards = guards_of(Limits.between(1, 6), GuardOptions(), LoopOptions(), False)
    policy = create("predictive", {}, Slo())
    run = simulate(plant, policy, guards, until_s=seconds, interval_s=5.0)
    kept, begin_s = FolderJournal(folder), time.time() - seconds
    kept.note(
        Start(
            t_s=begin_s - 1,
            mode=LIVE,
            policy="predictive",
            slo_s=10.0,
            min_executors=1,
            max_executors=6,
            interval_s=5.0,
            application=name,
            price=0.05,
        )
    )
    moves = {0: {"q": {"1": "0-7"}}, len(run.records) // 2: {"q": {"1": "0-3", "2": "4-7"}}}
    for number, record in enumerate(run.records):
        read = json.loads(to_line(record))
        read["rescaling"]["places"] = moves.get(number, {})
        read["t_s"] += begin_s
        if "observation" in read:
            read["observation"]["t_s"] = read["t_s"]
        read["observation"]["lag_by_source"] = {"orders/3": 400.0, "orders/others": 27.0}
        kept.append(from_line(json.dumps(read)), {})
    return kept


def jobs_now(folders: list[Path]) -> Jobs:
    """Return running jobs that do not grow old while a busy computer reads them."""
    now = time.time()
    return Jobs(lambda: [JournalJob(path, lambda _: True, clock=lambda: now) for path in folders])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(word)
    service = webdriver.ChromeService(executable_path=str(DRIVER))
    started = webdriver.Chrome(options=options, service=service)
    started.set_script_timeout(PATIENCE_S)
    yield started
    started.quit()


@pytest.fixture
def served() -> Iterator[Any]:
    servers: list[Server] = []

    def serve(app: Any) -> str:
        servers.append(Server(app, "127.0.0.1", 0))
        return servers[-1].url

    yield serve
    for server in servers:
        server.close()


def show(browser: Any, url: str, width: int = 1400, scheme: str = "light") -> None:
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get("about:blank")  # a URL that differs only in its fragment is not loaded again
    browser.get(url)


def wait(browser: Any, selector: str) -> Any:
    """Return the first element for a selector once it exists."""
    return WebDriverWait(browser, PATIENCE_S).until(
        lambda shown: next(iter(shown.find_elements(By.CSS_SELECTOR, selector)), None)
    )


def until(browser: Any, holds: Any) -> None:
    WebDriverWait(browser, PATIENCE_S).until(lambda _: holds())


def findings(browser: Any) -> Any:
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    return browser.execute_async_script(RUN_AXE)


def advice_page(folder: Path, recorded: Path) -> Path:
    """Write the page of advice about a recorded query and a log that cannot be judged."""
    recording = next(recorded.glob("segment-*")).read_text().splitlines()
    rows = [
        {"label": NAME, "cells": ["1.20"], "lines": [f"{NAME}: fits"], "recording": recording},
        {"label": "batch", "cells": ["not judged"], "lines": ["batch: none"], "recording": []},
    ]
    page = folder / "advice.html"
    page.write_text(page_of(rows, ["query", "slot-h"], "1 of 2 judged", 10.0), encoding="utf-8")
    return page


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible_and_fits_the_screen(browser, served, tmp_path, width, scheme):
    for name in ("one", "two"):
        journal(tmp_path / "jobs" / name, 300.0, NAME)
    url = served(reading_app(jobs_of([str(tmp_path / "jobs")], lambda _: True), Access()))
    frozen = tmp_path / "page.html"
    frozen.write_text(frozen_html(JournalJob(tmp_path / "jobs" / "one")), encoding="utf-8")
    advice = advice_page(tmp_path, tmp_path / "jobs" / "two")
    show(browser, url, width, scheme)
    link = wait(browser, "tbody a").get_attribute("href")
    for address, selector in (
        (url, "tbody a"),
        (link, "canvas"),
        (frozen.as_uri(), "canvas"),
        (advice.as_uri(), "tbody a"),
        (f"{advice.as_uri()}#/job/0", "canvas"),
    ):
        show(browser, address, width, scheme)
        wait(browser, selector)
        assert findings(browser) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") == width
        assert browser.title != "hacked"


def test_the_advice_is_filtered_and_a_query_opened_with_the_keyboard(browser, tmp_path):
    journal(tmp_path / "orders", 300.0)
    show(browser, advice_page(tmp_path, tmp_path / "orders").as_uri())
    search = wait(browser, "input[type=search]")
    listed = "return document.querySelector('tbody').innerText.startsWith(arguments[0])"
    for word, label in (("batch", "batch"), ("onerror", NAME)):
        search.send_keys(Keys.CONTROL, "a")
        search.send_keys(word)
        until(browser, lambda label=label: browser.execute_script(listed, label))
        assert len(browser.find_elements(By.CSS_SELECTOR, "tbody tr, ul li")) == 2
    wait(browser, "tbody a").send_keys(Keys.ENTER)
    wait(browser, "canvas")
    assert "fits" in wait(browser, ".notice").text


def test_selecting_a_decision_marks_its_time_and_shows_its_evidence(browser, served, tmp_path):
    journal(tmp_path / "orders")
    jobs = jobs_of([str(tmp_path / "orders")], lambda _: True)
    show(browser, served(reading_app(jobs, Access())))
    assert "Last change: " in wait(browser, ".health").text
    wait(browser, ".log li.change button").click()
    assert "Evidence" in wait(browser, ".detail details summary").text
    marks = "return [state.mark, ...state.charts.plots.map(() => state.charts.mark)]"
    assert len({*browser.execute_script(marks)}) == 1
    # The partitions that an executor has received are highlighted and named.
    browser.execute_script("return drawSlots(state.overview.last_t_s)")
    until(browser, lambda: "7 from 1" in wait(browser, ".slots").text)
    assert len(browser.find_elements(By.CSS_SELECTOR, ".cells.state i")) == 8
    assert len(browser.find_elements(By.CSS_SELECTOR, ".cells.state i.moved")) == 4
    browser.find_element(By.XPATH, "//summary[contains(., 'by source')]").click()
    assert browser.find_element(By.XPATH, "//tr[th='orders/3']/td").text == "400"
    # The same works with the keyboard alone.
    charts = wait(browser, ".charts")
    charts.send_keys(Keys.HOME, Keys.ENTER)
    until(browser, lambda: browser.execute_script(marks)[0] == browser.execute_script(marks)[1])
    assert wait(browser, ".log [aria-expanded=true]")


def test_controls_require_the_token(browser, served, tmp_path):
    journal(tmp_path / "orders", 300.0)
    service = server_service()
    jobs = jobs_of([str(tmp_path / "orders")], lambda _: True)
    notes: list[tuple[str, str]] = []
    app = control_app(service, Access("secret"), dict, jobs, lambda *note: notes.append(note))
    show(browser, served(app))
    wait(browser, "#control:not([hidden])").click()
    token, author = browser.find_elements(By.CSS_SELECTOR, "dialog input")[:2]
    pause = browser.find_element(By.XPATH, "//dialog//button[text()='Pause']")
    status = browser.find_element(By.CSS_SELECTOR, "dialog [role=status]")
    token.send_keys("wrong")
    pause.click()
    until(browser, lambda: "token is missing or wrong" in status.text)
    assert not service._sized.halted
    token.send_keys(Keys.CONTROL, "a")
    token.send_keys("secret")
    author.send_keys("Ann")
    assert findings(browser) == []
    pause.click()
    until(browser, lambda: status.text.startswith("Done"))
    assert service._sized.halted
    assert [(action, name.split()[0]) for action, name in notes] == [("halt", "Ann")]


def test_a_what_if_answer_includes_its_error(browser, served, tmp_path):
    from rheostat.cli.serve import _whatif

    journal(tmp_path / "orders", 1800.0)
    jobs = jobs_of([str(tmp_path / "orders")], lambda _: True)
    show(browser, served(reading_app(jobs, Access(), _whatif)))
    wait(browser, "form button.main").click()
    assert "objective" in wait(browser, "form + div .notice").text
    assert "error, simulated as recorded" in browser.page_source


def test_the_page_shows_the_end_of_a_job_and_of_its_server(browser, tmp_path):
    kept = journal(tmp_path / "orders", 300.0)
    server = Server(reading_app(jobs_now([tmp_path / "orders"]), Access()), "127.0.0.1", 0)
    try:
        show(browser, server.url)
        assert wait(browser, ".health h1").text != "Not scaling"
        kept.note(End(t_s=time.time()))
        until(browser, lambda: wait(browser, ".health h1").text == "Not scaling")
    finally:
        server.close()
    assert wait(browser, "#live.off").text.startswith("no connection since ")


def test_lateness_cause_and_savings_are_visible_after_one_click(browser, served, tmp_path):
    """Which of thirty jobs is late, why it has its size, and what was saved."""
    for number in range(30):
        name = f"job {number:02}"
        if number in (0, 17):
            kept = journal(tmp_path / name, 300.0, name)
        else:
            shutil.copytree(tmp_path / "job 00", tmp_path / name)
            starts = tmp_path / name / STARTS_FILE
            starts.write_text(starts.read_text().replace("job 00", name))
    last = last_record(tmp_path / "job 17")
    assert last is not None
    assert last.observation is not None
    late = replace(last, t_s=time.time(), observation=replace(last.observation, latency_s=25.0))
    kept.append(late, {})
    jobs = jobs_now(sorted(tmp_path.iterdir()))
    assert len(jobs.rows()) == 30  # read once; the browser waits for no slow computer
    show(browser, served(reading_app(jobs, Access())))
    first = wait(browser, "tbody tr").text
    assert first.startswith("Late")
    assert "job 17" in first
    assert "Rows wait 25.0 s; the objective is 10 s." in first
    browser.find_element(By.CSS_SELECTOR, "tbody a").click()
    health, figures = wait(browser, ".health"), wait(browser, ".figures")
    entries = jobs.get(browser.current_url.rpartition("/")[2]).decisions(None, None)
    change = next(entry for entry in entries if entry["kind"] == "change")
    assert change["reason"] in health.text
    assert f"{change['before']} → {change['after']} executor" in health.text
    assert re.search(r"Saved, 7 days\n-?\d+\s%\n-?\d\.\d\d against 6 executors", figures.text)
    bottom = "return arguments[0].getBoundingClientRect().bottom"
    assert browser.execute_script(bottom, figures) < 600


def test_two_hundred_jobs_are_listed_sorted_and_filtered(browser, served, tmp_path):
    journal(tmp_path / "jobs" / "000", 60.0, "job 000")
    for number in range(1, 200):
        folder = tmp_path / "jobs" / f"{number:03}"
        shutil.copytree(tmp_path / "jobs" / "000", folder)
        starts = folder / STARTS_FILE
        starts.write_text(starts.read_text().replace("job 000", f"job {number:03}"))
    jobs = jobs_of([str(tmp_path / "jobs")], lambda _: True)
    assert len(jobs.rows()) == 200  # read once, so that the browser need not wait
    url = served(reading_app(jobs, Access()))

    def names():
        cells = "return [...document.querySelectorAll('tbody th a')].map(cell => cell.textContent)"
        return browser.execute_script(cells)

    everything = [f"job {number:03}" for number in range(200)]
    for width in (1400, 400):
        show(browser, url, width)
        wait(browser, "tbody a")
        assert sorted(names()) == everything
        assert findings(browser) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") == width
    heading = browser.find_element(By.XPATH, "//th/button[text()='Job']")
    for order in (everything, everything[::-1]):
        heading.send_keys(Keys.ENTER)
        until(browser, lambda order=order: names() == order)
    browser.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("job 142")
    until(browser, lambda: names() == ["job 142"])
