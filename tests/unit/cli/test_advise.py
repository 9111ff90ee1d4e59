# mypy: disallow-untyped-calls=False
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.unit.replay.event_logs.written_log import written_log

from rheostat.cli.recordings import advise as command
from rheostat.errors import BadInput
from rheostat.sim.advice.advise_job import rows_of


def row(query, slot_hours, saved, late=0.0, hours=2.0, **other):
    recorded = {"slot_hours": slot_hours, "late_share": late}
    simulated = {"slot_hours": slot_hours / 2, "late_share": 0.0, "attained": True}
    advice = {
        "hours": hours,
        "recorded": recorded,
        "fixed": None,
        "fixed_executors": None,
        "simple": None,
        "policy": simulated,
        "saved_share": saved,
        "binds": None,
        "confidence": "good",
    }
    facts = {"queries_sharing": 1, "dynamic_allocation": False}
    return {
        "application": "app-1",
        "name": "shop",
        "query": query,
        "malformed": 0,
        "facts": facts,
        "advice": advice,
        "cannot": None,
        "recording": [],
        **other,
    }


def test_the_ranking_begins_with_what_saves_most_and_states_the_total(
    monkeypatch, capsys, tmp_path
):
    batch = row(None, 1.0, None) | {"advice": None, "cannot": "it has no streaming query"}
    rows = [row("small", 2.0, 0.5), batch, row("large", 20.0, 0.4), row("late", 10.0, None)]
    monkeypatch.setattr(command, "_rows", lambda *given: list(rows))
    (tmp_path / "app-1").write_text("{}")
    command.advise(str(tmp_path), price=2.0, out=tmp_path / "out.json")
    shown = capsys.readouterr().out
    assert "3 of 4 queries judged: 28% of 32.0 slot-hours saved" in shown
    assert "(18.00 in money)" in shown
    assert shown.index("shop/large") < shown.index("shop/small") < shown.index("shop/late")
    assert "shop cannot be judged: it has no streaming query" in shown
    assert json.loads((tmp_path / "out.json").read_text())["saved_slot_hours"] == 9.0


def test_earlier_advice_is_compared_with_what_is_paid_now(tmp_path):
    before = tmp_path / "before.json"
    before.write_text(json.dumps({"queries": [row("orders", 20.0, 0.45)]}))
    (change,) = command._compare(command._read_earlier(before), [row("orders", 12.0, 0.0)])
    assert (change["slots_before"], change["slots_now"]) == (10.0, 6.0)
    assert command._change_line(change) == (
        "shop/orders: 6.00 slots in the mean, 10.00 before: 40% saved, 45% predicted;"
        " 100.0% of the rows in time"
    )


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_a_file_that_is_no_advice_is_refused(tmp_path, text):
    file = Path(tmp_path / "x.json")
    file.write_text(text)
    with pytest.raises(BadInput, match="is not advice written by"):
        command._read_earlier(file)


@pytest.mark.parametrize("since", ["7", "d", "0d", "7w"])
def test_a_wrong_time_is_refused(since):
    with pytest.raises(BadInput, match="--since must be a time such as 7d or 12h"):
        command._since_s(since)


def test_no_matching_log_is_one_line(tmp_path):
    (tmp_path / "app-1").write_text("{}")
    with pytest.raises(BadInput, match=r"no event log in .* matches --application 'x'"):
        command.advise(str(tmp_path), application="x")


def test_the_pages_are_a_list_and_a_page_for_each_query(monkeypatch, tmp_path):
    log = tmp_path / "app-1"
    log.write_text("\n".join(written_log(lambda t_s: 300.0 + 3 * t_s, 60)) + "\n")
    (tmp_path / "none").write_text("")
    monkeypatch.setattr(
        command,
        "_rows",
        lambda logs, request, master: [
            asdict(one) for found in logs for one in rows_of(found, request)
        ],
    )
    command.advise(str(tmp_path), pages=tmp_path / "pages", slo=10.0)
    index = (tmp_path / "pages" / "index.html").read_text()
    assert '<a href="000-shop-orders.html">shop/orders</a>' in index
    assert "1 of 2 queries judged" in index
    page = (tmp_path / "pages" / "000-shop-orders.html").read_text()
    assert page.count("<script") == 3
    assert "KafkaV2" not in page
    assert '"name":"shop/orders"' in page
    assert len(page) < 400_000
