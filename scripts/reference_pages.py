"""Write docs/reference: the command line, Python, the options and the journal, from the code alone.

Run: python scripts/reference_pages.py         writes pages and tables; a test fails if they are outdated
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import inspect
import re
import sys
import textwrap
from io import StringIO
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
MADE = "<!-- generated: scripts/reference_pages.py -->\n"
KEPT = (model.Observation, model.InFlight, model.Stage, model.ExecutorSample)
RECORD = (model.Record, model.Decision, model.GuardChange, model.Rescaling)


def pages() -> dict[str, str]:
    """Return the text of every page and table by its file name."""
    return {
        "command-line.md": command_line(),
        "command-line.csv": options(),
        "configuration.md": configuration(),
        "journal-and-recordings.md": journal(),
        "journal-and-recordings.csv": journal_fields(),
        "evidence.csv": evidence(),
        "metrics.csv": metrics(),
        "python.md": python(),
    }


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return rows as the text of a CSV file."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def command_line() -> str:
    """Return the page of all commands, the product's with the first sentence of their help."""
    leaves = _leaves("rheostat", get_command(application()))
    own = [f"* `{path}`: {_summary(leaf)}." for path, leaf in leaves if not _is_of_the_lab(leaf)]
    lab = ", ".join(f"`{path}`" for path, leaf in leaves if _is_of_the_lab(leaf))
    return "\n".join(
        [MADE, *COMMAND_LINE, *own, f"\n[`rheostat-lab`](../start/install.md) adds {lab}.\n"]
    )


COMMAND_LINE = [
    "# The command line\n",
    "`rheostat COMMAND --help` prints a command with its arguments and options;"
    " [command-line.csv](command-line.csv) has those of all commands. Commands that report a result"
    " have `--json` and `--out FILE`, which writes the same JSON. The options of `rheostat run` are"
    " also [settings](configuration.md). [Exit codes](exit-codes.md).\n",
]


def options() -> str:
    """Return the table of the arguments and options of all commands of the product."""
    rows = [
        (path, *_parameter(parameter))
        for path, command in _leaves("rheostat", get_command(application()))
        if not _is_of_the_lab(command)
        for parameter in command.params
        if parameter.name != "help"
    ]
    return table(("command", "argument or option", "default", "meaning"), rows)


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


def _parameter(parameter: Any) -> tuple[str, str, str]:
    """Return name, default and meaning of an argument or option."""
    names = ", ".join((*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = parameter.name
    default = parameter.default
    unset = default in (None, False, (), [], "") or callable(default)
    return names, "" if unset else str(default), _text(getattr(parameter, "help", "") or "")


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
    " `spark.rheostat.polcy is not a setting of Rheostat; did you mean spark.rheostat.policy?`\n",
]


def _default(default: Any) -> str:
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    return f" (`{shown}`)" if shown else ""


def _setting(setting: settings.ConfSetting) -> str:
    name = f"{setting.name}{'NAME' if setting.family else ''}"
    return f"* `{name}`{_default(setting.default)}: {_text(setting.help)}"


def journal() -> str:
    """Return the page of the journal's lines, whose observation is also a recording's row."""
    kinds = [f"| `{kind.__name__}` | {_first(kind)} |" for kind in (*RECORD, *KEPT)]
    lines = [
        MADE,
        "# Journal and recordings\n",
        *JOURNAL,
        "| object | content |",
        "|---|---|",
        *kinds,
    ]
    return "\n".join([*lines, *EVIDENCE]) + "\n"


JOURNAL = [
    f"A journal is a folder of segments, one JSON object a line, `schema: {SCHEMA}`. Each line is a"
    " `Record`. Absent values are left out; a reader skips names that it does not know. A recording"
    " (CSV, Parquet) has the fields of `Observation` as its columns:"
    " [replay](../guides/replay.md#the-columns).\n",
    "[journal-and-recordings.csv](journal-and-recordings.csv) has every field with its type and"
    " meaning.\n",
]
EVIDENCE = [
    "\n## Evidence\n",
    "The numbers behind a decision. `rheostat explain` prints them in words with their units;"
    " [evidence.csv](evidence.csv) has the key, the unit and the meaning of each.",
]


def journal_fields() -> str:
    """Return the table of the fields of the journal's objects."""
    rows = [row for kind in (*RECORD, *KEPT) for row in _fields(kind)]
    return table(("object", "field", "type", "meaning"), rows)


def evidence() -> str:
    """Return the table of the keys of a decision's evidence."""
    rows = [(name, term.unit, term.words) for name, term in TERMS.items()]
    return table(
        ("key", "unit", "meaning"),
        [*rows, ("pi OPERATOR", "slots", "slots that the operator needs")],
    )


def metrics() -> str:
    """Return the table of all metrics."""
    rows = [
        (name, family.kind, ", ".join(("application", *family.labels)), _text(family.help))
        for name, family in FAMILIES.items()
    ]
    return table(("metric", "kind", "labels", "meaning"), rows)


def _fields(kind: type[Any]) -> list[tuple[str, str, str, str]]:
    docs = _attribute_docs(kind)
    return [
        (
            kind.__name__,
            field.name,
            str(field.type).removesuffix(" | None"),
            docs.get(field.name, ""),
        )
        for field in dataclasses.fields(kind)
    ]


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
    """Write the pages and tables."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
