"""`referee db`: looking after a database."""

from __future__ import annotations

import click

from referee.cli.commands.db.backup import backup
from referee.cli.commands.db.check import check
from referee.cli.commands.db.info import info
from referee.cli.commands.db.merge import merge

_EXAMPLES = """\b
Examples:
  referee db info
  referee db check league.db --quick
  referee db backup league.db /media/stick/league.db
  referee db merge league.db from-ada.db from-bob.db
"""


@click.group(short_help="Look after a database: info, check, backup, merge.", epilog=_EXAMPLES)
def command() -> None:
    """Look after a database: what is in it, whether it is whole, a copy of it, shares of a round joined into it."""


for _each in (info, check, backup, merge):
    command.add_command(_each)
