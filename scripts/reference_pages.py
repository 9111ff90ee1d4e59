"""Write docs/reference: the command line, Python, the options and the journal, from the code alone.

Run: python scripts/reference_pages.py         writes the pages; a test fails if they are outdated
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from typer.main import get_command  # noqa: E402

import rheostat  # noqa: E402
from rheostat import config, model, settings  # noqa: E402
from rheostat.cli.app import application  # noqa: E402
from rheostat.journal.evidence_terms import TERMS  # noqa: E402
from rheostat.journal.record import SCHEMA  # noqa: E402
from rheostat.metrics.catalog import FAMILIES  # noqa: E402

FOLDER = ROOT / "docs" / "reference"
MADE = "<!-- Made by scripts/reference_pages.py; change the code, not this page. -->\n"
KEPT = (model.Observation, model.InFlight, model.Stage, model.ExecutorSample)
RECORD = (model.Record, model.Decision, model.GuardChange, model.Rescaling)


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    return {
        "command-line.md": command_line(),
        "configuration.md": configuration(),
        "journal-and-recordings.md": journal(),
        "metrics.md": metrics(),
        "python.md": python(),
    }


STANDARD = {
    "* `--json`: Print JSON.",
    "* `--out`: Write the same JSON to this file.",
}
"""Options that most commands have; the page describes them once."""


def command_line() -> str:
    """Return the page of all commands with their arguments and options."""
    top: Any = get_command(application())
    shared = {_parameter(parameter) for parameter in top.commands["run"].params}
    head = [
        MADE,
        "# The command line\n",
        "`rheostat COMMAND --help` prints a command with all of its options; defaults are in brackets."
        " Commands that report a result have `--json` and `--out FILE`, which writes the same JSON;"
        " both are listed only where they differ.\n",
    ]
    leaves = _leaves("rheostat", top)
    own = [(path, command) for path, command in leaves if not _is_of_the_lab(command)]
    lab = [
        f"* `{path}`: {_summary(command)}" for path, command in leaves if _is_of_the_lab(command)
    ]
    lines = [line for path, command in own for line in _command(path, command, shared)]
    return "\n".join([*head, *lines, "## The commands of `rheostat-lab`\n", *lab]) + "\n"


def _leaves(path: str, command: Any) -> list[tuple[str, Any]]:
    """Return a command, or those of a group, by their words."""
    below = getattr(command, "commands", None)
    if not below:
        return [(path, command)]
    return [leaf for name in sorted(below) for leaf in _leaves(f"{path} {name}", below[name])]


def _is_of_the_lab(command: Any) -> bool:
    return bool(command.callback.__module__.startswith("rheostat_lab."))


def _summary(command: Any) -> str:
    """Return the first sentence of a command's help."""
    return _text(command.help or "").partition(". ")[0].removesuffix(".")


def _command(path: str, command: Any, shared: set[str]) -> list[str]:
    """Return the lines of a command; options of ``rheostat run`` are listed there only, and those
    of a group of options on the page of the configuration.
    """
    lines = [f"## `{path}`\n", inspect.cleandoc(command.help or "") + "\n"]
    parameters = [parameter for parameter in command.params if parameter.name != "help"]
    rows = {parameter.name: _parameter(parameter) for parameter in parameters}
    if path == "rheostat run":
        own = [row for name, row in rows.items() if name not in _grouped()]
        lines.append("All further options: [configuration](configuration.md).\n")
    else:
        same = {row for row in rows.values() if row in shared}
        own = [row for row in rows.values() if row not in same | STANDARD]
        lines += _inherited(same - STANDARD, shared - STANDARD)
    return [*lines, *([*own, ""] if own else [])]


def _inherited(same: set[str], shared: set[str]) -> list[str]:
    """Return the sentence that names the options that a command has in common with ``run``."""
    options = {row for row in shared if row.startswith("* `--")}
    missing = options - same
    if not same:
        return []
    if len(missing) < len(same):
        return [f"All options of [`rheostat run`](#rheostat-run) except {_named(missing)}.\n"]
    return [f"As in [`rheostat run`](#rheostat-run): {_named(same)}.\n"]


def _named(rows: set[str]) -> str:
    return ", ".join(sorted(re.split(r"(?<=`)(?:: | \()", row[2:])[0] for row in rows))


def _parameter(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{parameter.name}`"
    default = parameter.default
    unset = default in (None, False, (), [], "") or callable(default)
    shown = "" if unset else f" (`{default}`)"
    return f"* {names}{shown}: {_text(getattr(parameter, 'help', '') or '')}"


def _groups() -> list[type[Any]]:
    """Return the groups of options by name."""
    kinds = [kind for kind in vars(config).values() if inspect.isclass(kind)]
    return sorted(filter(dataclasses.is_dataclass, kinds), key=lambda kind: kind.__name__)


def _grouped() -> set[str]:
    return {field.name for group in _groups() for field in dataclasses.fields(group)}


def configuration() -> str:
    """Return the page of the options under their three names, one table for each group."""
    options = {
        parameter.name: parameter.opts[0]
        for parameter in get_command(application()).commands["run"].params  # type: ignore[attr-defined]
    }
    known = {setting.part or setting.name: setting for setting in settings.conf_settings()}
    lines = [MADE, "# Configuration\n", *CONFIGURATION]
    lines += ["## General\n", *(_setting(known[name]) for name in known if name not in _grouped())]
    for group in _groups():
        lines += [f"\n## {group.__name__}\n", _first(group) + "\n"]
        for field in dataclasses.fields(group):
            name = known[field.name].name if field.name in known else field.name
            option = f", `{options[field.name]}`" if field.name in options else ""
            text = _text(field.metadata.get("help", ""))
            lines.append(f"* `{name}`{option}{_default(field.default)}: {text}")
    return "\n".join(lines) + "\n"


CONFIGURATION = [
    "Every option can be given in three places: as an argument of `rheostat.attach` and"
    " `rheostat.shadow`, as an option of `rheostat run`, and as a setting `spark.rheostat.NAME` of"
    " Spark's configuration (`spark-defaults.conf`, `spark-submit --conf`, a SparkApplication's"
    " `sparkConf`, the builder or the session). Arguments and options of the command line take"
    " precedence over settings, and settings over defaults. The parameters of a policy belong to the"
    " layer that names the policy.\n",
    "Each line has the setting without its prefix `spark.rheostat.`, the option of `rheostat run` and"
    " the default in brackets. In Python, `loop`, `guards`,"
    " `retention` (`JournalOptions`) and `export` are frozen dataclasses, and the last part of a"
    " setting is the name of the field; other settings are arguments of the same name, and `limits` is"
    " a pair.\n",
    "All errors are reported at once, one line each, before anything is changed:"
    " `spark.rheostat.polcy is no setting of Rheostat; did you mean spark.rheostat.policy?`\n",
]


def _default(default: Any) -> str:
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    return f" (`{shown}`)" if shown else ""


def _setting(setting: settings.ConfSetting) -> str:
    name = f"{setting.name}{'NAME' if setting.family else ''}"
    return f"* `{name}`{_default(setting.default)}: {_text(setting.help)}"


def journal() -> str:
    """Return the page of the journal's lines, whose observation is also a recording's row."""
    lines = [MADE, "# Journal and recordings\n"]
    lines.append(
        f"A journal is a folder of segments, one JSON object a line, `schema: {SCHEMA}`. Absent"
        " values are left out; a reader skips names that it does not know. A recording (CSV,"
        " Parquet) has the fields of [`Observation`](#observation) as its columns:"
        " [replay](../guides/replay.md#the-columns).\n"
    )
    for kind in (*RECORD, *KEPT):
        lines += [f"## {kind.__name__}\n", _first(kind) + "\n", *_fields(kind), ""]
    lines += [
        "## Evidence\n",
        "The numbers behind a decision, as `rheostat explain` prints them.\n",
    ]
    units = {name: f" ({term.unit})" if term.unit else "" for name, term in TERMS.items()}
    lines += [f"* `{name}`{units[name]}: {term.words}" for name, term in TERMS.items()]
    lines += ["* `pi OPERATOR` (slots): slots that the operator needs", ""]
    return "\n".join(lines)


def metrics() -> str:
    """Return the page of all metrics."""
    lines = [MADE, "# Metrics\n"]
    lines.append(
        "Prometheus scrapes them at `/metrics` of the control API, node_exporter reads them from a text file, and"
        " OpenTelemetry exports them under the same names: [Metrics and alerts](../operate/metrics.md). Kind and labels are in brackets; each"
        " has the label `application`, too. A metric without a value has no sample. Counters start at 0 with the process.\n"
    )
    for name, family in FAMILIES.items():
        labels = "".join(f", `{label}`" for label in family.labels)
        lines.append(f"* `{name}` ({family.kind}{labels}): {_text(family.help)}")
    return "\n".join(lines) + "\n"


def _fields(kind: type[Any]) -> list[str]:
    docs = _attribute_docs(kind)
    types = {
        field.name: str(field.type).removesuffix(" | None") for field in dataclasses.fields(kind)
    }
    texts = {name: f": {docs[name]}" if docs.get(name) else "" for name in types}
    return [f"* `{name}` (`{kind}`){texts[name]}" for name, kind in types.items()]


def _attribute_docs(kind: type[Any]) -> dict[str, str]:
    """Return the text under each attribute of a class, by the attribute's name."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # type: ignore[attr-defined]
    pairs = pairwise(body)
    return {
        field.target.id: " ".join(str(ast.literal_eval(text.value)).split())
        for field, text in pairs
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def python() -> str:
    """Return the page of the public names."""
    page = [MADE, "# Python\n", "All of these are names of `rheostat`.\n"]
    for name in sorted(rheostat.__all__, key=str.lower):
        member = getattr(rheostat, name)
        text = _ARGUMENTS.sub(_CONFIGURED, inspect.getdoc(member) or "")
        page += [f"## `{name}{_signature(member)}`\n", text, ""]
    return "\n".join(page)


_ARGUMENTS = re.compile(r":\n\n- ``.*?\n\n", re.DOTALL)
_CONFIGURED = (
    ". [Configuration](configuration.md) and ``help(rheostat.attach)`` describe the arguments.\n\n"
)
"""The page of the configuration has the arguments that a docstring lists."""


def _signature(member: Any) -> str:
    if not inspect.isfunction(member):
        return ""
    names = [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}=..."
        for parameter in inspect.signature(member).parameters.values()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return f"({', '.join(names)})"


def _first(kind: type[Any]) -> str:
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())


def _text(text: str) -> str:
    return " ".join(str(text).split())


def main() -> int:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
