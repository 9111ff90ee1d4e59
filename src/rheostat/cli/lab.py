"""``rheostat lab``: measurements on real Spark; its commands come with the distribution
``rheostat-lab``.
"""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="Measurements on real Spark, from specifications.")
