"""The report in a real browser; only where there is one."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rheostat_lab.report.finished_run import Run, Verdict
from rheostat_lab.report.report import write_report
from rheostat_lab.report.summary import summarize

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
FRAME = """<iframe srcdoc="{page}" style="width: {width}px; height: 900px; border: 0"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  const inside = frame.contentDocument, root = inside.documentElement, width = {width};
  const shown = [...inside.querySelectorAll("main *")].filter(e => !e.closest("thead"));
  const beyond = shown.filter(e => e.getBoundingClientRect().right > width + 0.5);
  const cut = shown.filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1);
  const begin = e => e.outerHTML.slice(0, 90);
  document.body.dataset.measured = JSON.stringify({{
    width: frame.contentWindow.innerWidth,
    scroll: root.scrollWidth,
    beyond: beyond.map(begin),
    cut: cut.map(begin),
  }});
}};
</script>"""


def measured(page: Path, width: int, folder: Path) -> dict[str, Any]:
    """Return what a frame of so many pixels shows (a window has 500 at least): its width, the
    page's, and the elements that do not fit."""
    frame = folder / "frame.html"
    text = html.escape(page.read_text(encoding="utf-8"))
    frame.write_text(FRAME.format(page=text, width=width), encoding="utf-8")
    where = [f"--user-data-dir={folder / 'profile'}", "--window-size=1400,1000"]
    command = [str(BROWSER), *QUIET, *where, "--dump-dom", frame.as_uri()]
    seen = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    found = re.search(r'data-measured="([^"]*)"', seen)
    assert found, seen[-500:]
    return dict(json.loads(html.unescape(found[1])))


@pytest.mark.parametrize("width", [400, 800, 1280])
def test_nothing_of_the_report_is_cut_off(late_run: Run, tmp_path: Path, width: int) -> None:
    wrong = Verdict(False, 10, 9, 1, 0, 0, "bids: 1 missing, " + "partition-3-offset-" * 9)
    run = replace(
        late_run, verdict=wrong, price_per_slot_hour=0.05, journal=Path("/a" * 60) / "journal"
    )
    write_report(run, summarize(run), tmp_path / "report.html")
    seen = measured(tmp_path / "report.html", width, tmp_path)
    assert seen["width"] == width
    assert (seen["beyond"], seen["cut"]) == ([], [])
    assert seen["scroll"] <= width
