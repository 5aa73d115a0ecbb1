"""`referee completion`: the script by which a shell completes our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

_EXAMPLES = """\b
Examples:
  eval "$(referee completion bash)"      in ~/.bashrc
  eval "$(referee completion zsh)"       in ~/.zshrc
  referee completion fish > ~/.config/fish/completions/referee.fish
"""


@click.command(short_help="Print the script that completes commands in your shell.", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    found = get_completion_class(shell)
    assert found is not None
    script = found(ctx.find_root().command, {}, "referee", "_REFEREE_COMPLETE")
    # bash's own source() starts a bash to ask for its version, and this may be read on another machine
    click.echo(ShellComplete.source(script))
