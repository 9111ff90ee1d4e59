from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from rheostat.cli.app import run

COMMANDS = [
    *("run", "demo", "replay", "policies", "explain", "doctor", "calibrate", "whatif"),
    *("status", "savings"),
    *("simulate queue", "simulate bench", "simulate sweep", "simulate thesis", "simulate compare"),
    *("cluster up", "cluster down", "kafka up", "kafka down"),
]


@pytest.fixture
def app(tmp_path: Path) -> str:
    (tmp_path / "app.py").write_text("raise SystemExit('the script must not be run')")
    return str(tmp_path / "app.py")


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def refused(capsys: Any, *arguments: str) -> str:
    """Run a command that must reject its input; return its one line of output."""
    assert run(list(arguments)) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("rheostat: ")
    assert shown.err.count("\n") == 1
    return str(shown.err).removeprefix("rheostat: ").rstrip("\n")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_help_with_an_example(capsys, command, option):
    assert run([*command.split(), option]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Usage: rheostat {command} [OPTIONS]" in shown
    assert f"Example: rheostat {command}" in shown


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (
            ["--help"],
            [
                "run",
                "restart",
                "advise",
                "replay",
                "policies",
                "status",
                "explain",
                "savings",
                "halt",
                "resume",
                "doctor",
                "calibrate",
                "whatif",
                "serve",
                "top",
                "connect-server",
                "demo",
                "operator",
                "state",
                "cluster",
                "kafka",
                "simulate",
                "lab",
                "nexmark",
            ],
        ),
        (["cluster", "--help"], ["down", "up"]),
        (["kafka", "--help"], ["down", "up"]),
    ],
)
def test_help_lists_the_commands(capsys, arguments, names):
    assert run(arguments) == 0
    shown = capsys.readouterr().out.split("Commands:")[1]
    assert [
        line.split()[0] for line in shown.splitlines() if line[:3].strip() or line[2:3].strip()
    ] == names


def test_run_help_lists_its_main_options(capsys):
    run(["run", "--help"])
    shown = capsys.readouterr().out
    assert all(
        option in shown
        for option in (
            "--policy",
            "--min",
            "--max",
            "--slo",
            "--shadow",
            "--master",
            "--local",
            "--kafka",
            "--journal",
        )
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--policy", "no-such"], "unknown policy 'no-such'; there are "),
        (["--policy", "predictve"], "unknown policy 'predictve' (did you mean 'predictive'?)"),
        (
            ["--policy", "no.such:Policy"],
            "policy 'no.such:Policy' cannot be loaded: No module named 'no'",
        ),
        (
            ["--set", "no_such=1"],
            "policy predictive has no parameter 'no_such'; it has slo, ",
        ),
        (
            ["--set", "margin=much"],
            "margin of policy predictive must be of type float, but it is 'much'",
        ),
        (
            ["--set", "factor"],
            "a parameter is written name=value, such as factor=0.3, but this one is 'factor'",
        ),
        (["--min", "4", "--max", "2"], "min executors (4) is above max executors (2)"),
        (["--min", "-1"], "min executors must be at least 1, but it is -1"),
        (["--max", "0"], "min executors (1) is above max executors (0)"),
        (["--slo", "0"], "the latency objective must be above 0 seconds, but it is 0.0"),
        (["--interval", "-1"], "the decision interval must be above 0 seconds, but it is -1.0"),
        (["--master", "yarn", "--local", "4"], "--master yarn and --local 4 exclude each other"),
        (
            ["--local", "4", "--max", "8"],
            (
                "--max 8 does not fit into a local cluster with room for 4; raise --local or lower"
                " --max"
            ),
        ),
        (["--local", "2", "--min", "3"], "min executors (3) is above max executors (2)"),
        (["--local", "0"], "Invalid value for '--local': "),
        (["--min", "some"], "Invalid value for '--min': "),
        (["--no-such"], "No such option: --no-such"),
    ],
)
def test_run_rejects_invalid_options_in_one_line(capsys, app, given, message):
    assert refused(capsys, "run", *given, app).startswith(message)


def test_run_rejects_a_missing_script(capsys, tmp_path):
    assert (
        refused(capsys, "run", str(tmp_path / "no.py"))
        == f"there is no script {tmp_path / 'no.py'}"
    )
    assert refused(capsys, "run", str(tmp_path)) == f"there is no script {tmp_path}"
    assert refused(capsys, "run") == "Missing argument 'script'."


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--query", "q7"], "there is no query 'q7'; there are q1, q2, q3, q5, q8, q11"),
        (["--policy", "no-such"], "unknown policy 'no-such'; there are "),
        (["--seconds", "1"], "a day of 1 seconds is too short to see anything; take 30 or more"),
        (["--min", "4", "--max", "2"], "min executors (4) is above max executors (2)"),
        (
            ["--receivers", "--policy", "hpa", "--max", "8", "--set", "metrics=cpu 0.5"],
            "--receivers plays a separate day: leave out --policy, --max, --set; it takes",
        ),
        (
            ["--receivers", "--full", "--operator"],
            "--full plays fixed sizes, --operator a resource of Kubernetes: choose one",
        ),
        (
            ["--receivers", "--operator"],
            "--receivers plays a separate day: leave out --operator; it takes",
        ),
    ],
)
def test_the_demo_rejects_invalid_options_in_one_line(capsys, tmp_path, given, message):
    assert refused(capsys, "demo", "--out", str(tmp_path), *given).startswith(message)


@pytest.mark.parametrize(("room", "purpose"), [("cluster", "the Spark master"), ("kafka", "Kafka")])
def test_a_port_in_use_is_rejected(capsys, monkeypatch, tmp_path, taken, room, purpose):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    message = refused(capsys, room, "up", "--port", str(taken))
    assert (
        message
        == f"port {taken} for {purpose} is taken by another program; name another one, or none to"
        " get a free one"
    )
    assert refused(capsys, room, "up", "--port", "70000").startswith(
        f"the port of {purpose} must be between 1 and 65535"
    )


@pytest.mark.parametrize(
    ("room", "message"),
    [("cluster", "no cluster was running\n"), ("kafka", "no broker was running\n")],
)
def test_taking_down_a_stopped_service_is_not_a_failure(
    capsys, monkeypatch, tmp_path, room, message
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert run([room, "down"]) == 0
    assert capsys.readouterr().out == message


@pytest.mark.parametrize("arguments", [[], ["cluster"], ["kafka"]])
def test_a_missing_command_prints_help(capsys, arguments):
    assert run(arguments) == 2
    assert capsys.readouterr().err.startswith(
        f"Usage: {' '.join(['rheostat', *arguments])} [OPTIONS] COMMAND"
    )


def test_an_unknown_command_is_rejected(capsys):
    assert refused(capsys, "no-such").startswith("No such command 'no-such'.")


def test_the_module_exits_with_the_exit_code():
    done = subprocess.run(
        [sys.executable, "-m", "rheostat.cli", "run", "no.py"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "rheostat: there is no script no.py\n",
    )


def test_the_version_is_that_of_the_distribution(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"rheostat {version('rheostat')}\n"


@pytest.mark.parametrize("module", ["rheostat", "rheostat.cli"])
def test_the_package_runs_as_a_program(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"rheostat {version('rheostat')}\n",
        "",
    )


def test_the_shell_completion_script_is_printed(capsys, monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    assert run(["--show-completion"]) == 0
    assert "_RHEOSTAT_COMPLETE=complete_bash" in capsys.readouterr().out


def test_shell_completion_returns_the_commands(capsys, monkeypatch):
    monkeypatch.setenv("_RHEOSTAT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "rheostat sim")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run([]) == 0
    assert capsys.readouterr().out == "simulate\n"


@pytest.mark.parametrize("command", [["whatif", "query-1_HPA_50"], ["simulate", "queue"]])
def test_a_negative_seed_is_rejected(capsys, command):
    assert "--seed" in refused(capsys, *command, "--seed", "-1")


def test_a_setting_without_a_value_is_rejected_as_a_setting(capsys):
    message = refused(capsys, "doctor", "--conf", "spark.executor.cores")
    assert message.startswith("a setting is written name=value, such as spark.executor.cores=4")


def test_a_command_that_reads_files_avoids_slow_imports():
    script = (
        "import sys; from rheostat.cli.app import run; run(['explain', '--help']);"
        " print(sorted({'numpy', 'pyspark', 'rheostat.policies.registry'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
