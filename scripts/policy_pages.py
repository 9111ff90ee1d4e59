"""Write docs/policies: a page per policy and their index, from the registry alone.

python scripts/policy_pages.py            writes the pages and removes those of policies that are gone
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat.policies.description import Description, Parameter, describe  # noqa: E402
from rheostat.policies.registry import POLICIES  # noqa: E402

FOLDER = ROOT / "docs" / "policies"
MADE = "<!-- Made by scripts/policy_pages.py from the policy's class; change that, not this page. -->\n"


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    described = [describe(name) for name in POLICIES]
    return {"README.md": index(described), **{f"{each.name}.md": page(each) for each in described}}


def index(described: list[Description]) -> str:
    """Return the list of all policies."""
    rows = [f"| [{each.name}]({each.name}.md) | {_cell(each.title)} | {_cell(each.source)} |" for each in described]
    head = "`rheostat policies` prints this list, `rheostat policies NAME` a page; [replay.md](../replay.md) tries one on a recording."
    return "\n".join([MADE, "# The policies\n", head + "\n", "| policy | what it does | source |", "|---|---|---|", *rows, ""])


def page(each: Description) -> str:
    """Return the page of one policy."""
    rows = [_row(parameter) for parameter in each.parameters]
    table = ["| parameter | default | unit | what it is |", "|---|---|---|---|", *rows] if rows else ["It has none."]
    parts = [
        MADE, f"# {each.name}\n", f"{each.summary}\n", "## Formula\n", f"```text\n{each.formula}\n```\n",
        "## Parameters\n", *table, "", "## Source\n", f"{each.source}\n", "## Fails when\n", f"{each.fails_when}\n",
        "## Try it\n", f"    rheostat replay query-1_HPA_50 --policy {each.name} --max 16", "",
    ]  # fmt: skip
    return "\n".join(parts)


def _row(parameter: Parameter) -> str:
    default = "must be given" if parameter.default is None else f"`{parameter.default}`" if parameter.default != "" else "none"
    return f"| `{parameter.name}` | {default} | {_cell(parameter.unit)} | {_cell(parameter.help)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write() -> None:
    """Write all pages and remove those that are of no policy."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
