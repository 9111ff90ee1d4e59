# mypy: disallow-untyped-calls=False
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.unit.replay.event_logs.written_log import written_log

from rheostat.cli.recordings import advise as command
from rheostat.cli.recordings.prices import Prices
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
        "binding": None,
        "sizes": [2],
        "slots_per_executor": 1,
        "confidence": "good",
        "fixed_s": 0.5,
    }
    facts: dict[str, object] = {
        "in_time_bounds": None,
        "earlier_names": [],
        "failures": [],
        "queries_sharing": 1,
        "dynamic_allocation": False,
        "gc_share": None,
        "spilled_bytes": 0,
        "executor_memory": "1g",
        "state_partitions": None,
        "instance_type": None,
        "parts": 1,
    }
    return {
        "application": "app-1",
        "name": "shop",
        "query": query,
        "malformed": 0,
        "facts": facts,
        "advice": advice,
        "cannot": None,
        "recording": [],
        "price_per_slot_hour": None,
        "spark": "4.0.1",
        "label": f"shop/{query}",
        **other,
    }


def test_the_ranking_starts_with_the_largest_saving_and_states_the_total(
    monkeypatch, capsys, tmp_path
):
    batch = row(None, 1.0, None) | {"advice": None, "cannot": "it has no streaming query"}
    rows = [row("small", 2.0, 0.5), batch, row("large", 20.0, 0.4), row("late", 10.0, None)]
    monkeypatch.setattr(command, "_rows", lambda *given: list(rows))
    (tmp_path / "app-1").write_text("{}")
    command.advise(str(tmp_path), price=2.0, out=tmp_path / "out.json")
    shown = capsys.readouterr().out
    assert "3 of 4 queries judged: 28% of 32.00 slot-hours saved" in shown
    assert "(18.00 in money)" in shown
    assert shown.index("shop/large") < shown.index("shop/small") < shown.index("shop/late")
    assert "shop cannot be judged: it has no streaming query" in shown
    assert json.loads((tmp_path / "out.json").read_text())["saved_slot_hours"] == 9.0


def test_the_totals_count_the_slot_hours_of_shared_executors_once():
    shared = [row("a", 6.0, 0.5), row("b", 6.0, 0.25)]
    for query in shared:
        query["facts"]["queries_sharing"] = 2
    total = command._sum([*shared, row("alone", 2.0, 0.5)])
    assert (total["slot_hours"], total["saved_slot_hours"]) == (8.0, 3.25)


def test_the_totals_do_not_count_a_saving_of_low_confidence():
    doubtful = row("limited", 6.0, 0.5)
    doubtful["advice"]["confidence"] = "low: the simulation misses the share of late rows by 48 %"
    total = command._sum([doubtful, row("sure", 2.0, 0.5)])
    assert (total["slot_hours"], total["saved_slot_hours"]) == (8.0, 1.0)


def test_the_last_failure_of_a_query_is_shown_in_one_line():
    failing = row("breaks", 1.0, 0.1)
    failing["facts"]["failures"] = ["Job aborted", "Division by zero"]
    assert command._advice_lines(failing) == [
        "shop/breaks: failures: 2; the last one: Division by zero"
    ]


def test_queries_with_the_same_name_are_distinguished_by_their_logs():
    rows = [
        row("orders", 1.0, 0.1),
        row("orders", 1.0, 0.1, application="app-2"),
        row("other", 1, 0),
    ]
    command._rank(rows, Prices())
    assert [labelled["label"] for labelled in rows] == [
        "shop/orders (app-1)",
        "shop/orders (app-2)",
        "shop/other",
    ]


def test_bounds_are_shown_for_an_unknown_latency():
    bounded = row("files", 2.0, 0.5)
    bounded["facts"]["in_time_bounds"] = (0.4, 0.9)
    assert command._cells(bounded)[1] == "40% to 90%"


def test_earlier_advice_is_compared_with_the_current_cost(tmp_path):
    before = tmp_path / "before.json"
    before.write_text(json.dumps({"queries": [row("orders", 20.0, 0.45)]}))
    (change,) = command._compare(command._read_earlier(before), [row("orders", 12.0, 0.0)])
    assert (change["slots_before"], change["slots_now"]) == (10.0, 6.0)
    assert command._change_line(change) == (
        "shop/orders: 6.00 slots in the mean, 10.00 before: 40% saved, 45% predicted;"
        " 100.0% of the rows in time"
    )


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_a_file_without_advice_is_rejected(tmp_path, text):
    file = Path(tmp_path / "x.json")
    file.write_text(text)
    with pytest.raises(BadInput, match="is not advice written by"):
        command._read_earlier(file)


@pytest.mark.parametrize("since", ["7", "d", "0d", "7w"])
def test_an_invalid_time_is_rejected(since, tmp_path):
    with pytest.raises(BadInput, match="--since must be a time such as 7d or 12h"):
        command.advise(str(tmp_path), since=since)


def test_no_matching_log_is_reported_in_one_line(tmp_path):
    (tmp_path / "app-1").write_text("{}")
    with pytest.raises(BadInput, match=r"no event log in .* matches --application 'x'"):
        command.advise(str(tmp_path), application="x")


def analyse_in_this_process(monkeypatch):
    monkeypatch.setattr(
        command,
        "_rows",
        lambda logs, request, _: [asdict(row) for log in logs for row in rows_of(log, request)],
    )


def test_the_page_lists_queries_and_opens_their_charts(monkeypatch, tmp_path):
    log = tmp_path / "app-1"
    log.write_text("\n".join(written_log(lambda t_s: 300.0 + 3 * t_s, 60)) + "\n")
    (tmp_path / "none").write_text("")
    analyse_in_this_process(monkeypatch)
    command.advise(str(tmp_path), pages=tmp_path / "advice.html", slo=10.0)
    page = (tmp_path / "advice.html").read_text()
    frozen = json.loads(re.findall(r'id="frozen">(.*?)</script>', page)[0])
    assert "1 of 2 queries judged" in frozen["list"]["title"]
    assert [(row["id"], row["cells"][0]) for row in frozen["list"]["rows"]] == [
        ("0", "shop/orders"),
        (None, "none"),
    ]
    assert frozen["pages"]["0"]["overview"]["name"] == "shop/orders"
    assert len(frozen["pages"]["0"]["series"]["t"]) > 30
    (facts,) = (line for line in frozen["list"]["lines"] if "shop/orders: batches 60, rows" in line)
    assert "busy slot-hours" in facts
    assert "e+0" not in facts
    assert "starts 1, failures 0, failed tasks 0" in facts
    assert any("none cannot be judged: it is empty" in line for line in frozen["list"]["lines"])
    assert "KafkaV2" not in page
    assert len(page) < 400_000


def test_the_instance_type_of_a_query_determines_its_price(monkeypatch, capsys, tmp_path):
    table = tmp_path / "prices.csv"
    table.write_text("instance_type,price_per_hour,slots\nm5.xlarge,0.8,4\n")
    priced = row("priced", 10.0, 0.5)
    priced["facts"]["instance_type"] = "m5.xlarge"
    monkeypatch.setattr(command, "_rows", lambda *given: [priced, row("other", 2.0, 0.5)])
    (tmp_path / "app-1").write_text("{}")
    command.advise(str(tmp_path), price_table=table, out=tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["saved_money"] == pytest.approx(1.0)
    assert "shop/other: the table has no price for an unknown type" in capsys.readouterr().out


def test_the_advice_includes_the_findings_of_doctor(monkeypatch, capsys, tmp_path):
    stateful = row("stateful", 2.0, 0.5)
    stateful["facts"] |= {"state_partitions": 200, "trigger_s": 0.0, "reads_all": True}
    monkeypatch.setattr(command, "_rows", lambda *given: [stateful])
    (tmp_path / "app-1").write_text("{}")
    command.advise(str(tmp_path))
    shown = capsys.readouterr().out
    assert "shop/stateful: 200 cost 2.8 to 9.0 s of slot time in every batch" in shown
    assert "shop/stateful: batches run back to back" in shown
    assert "shop/stateful: every batch read the entire backlog" in shown
