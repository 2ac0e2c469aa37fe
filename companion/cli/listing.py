"""``nystrom list`` and ``nystrom params``: what there is to run, and with what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from .base import Command, table

if TYPE_CHECKING:
    from ..chapters import Chapter


@click.command("list", cls=Command, short_help="the chapters that can be run")
def list_chapters() -> None:
    """List the chapters that can be run, with the sections of the paper they are about.

    \b
    Example:
      nystrom list
    """
    from ..chapters import CHAPTERS

    there = [each for each in CHAPTERS.values() if each.path.is_file()]
    rows = [[str(each.number), each.name, each.section, each.title] for each in there]
    click.echo(table(["", "name", "about", "title"], rows, right=[0]))
    click.echo("\nnystrom params NAME shows what one takes, nystrom run NAME runs it.")


@click.command("params", cls=Command, short_help="what a chapter takes")
@click.argument("name")
@click.option("--yaml", is_flag=True, help="Write a file that `nystrom run NAME -f FILE` reads.")
@click.option(
    "--profile", type=click.Choice(["paper", "quick", "smoke"]), default="paper", show_default=True,
    help="Whose values --yaml writes.",
)  # fmt: skip
def params(name: str, yaml: bool, profile: str) -> None:
    """Show the parameters of chapter NAME: type, default (the paper's value), range and meaning.

    Where the small profiles `quick` and `smoke` have another value, it is listed below.

    \b
    Examples:
      nystrom params bigaussian
      nystrom params bigaussian --yaml > mine.yml       edit it, then: nystrom run bigaussian -f mine.yml
    """
    from ..chapters import chapter
    from ..chapters.parameters import written

    this = chapter(name)
    if yaml:
        click.echo(as_yaml(this, profile), nl=False)
        return
    rows = [
        [key, each.annotation, written(each.default), each.allowed or "any", each.meaning]
        for key, each in this.parameters.declared().items()
    ]
    click.echo(f"{this.number}. {this.title} ({this.section})\n")
    click.echo(table(["name", "type", "default", "range", "meaning"], rows))
    click.echo("")
    for which in ("quick", "smoke"):
        click.echo(f"profile {which}: {_differing(this, which)}")


def _differing(this: Chapter, profile: str) -> str:
    from ..chapters.parameters import written

    values = this.profiles.get(profile, {})
    return ", ".join(f"{key} = {written(value)}" for key, value in values.items()) or "as in the paper"


def as_yaml(this: Chapter, profile: str) -> str:
    """The parameters of a profile as a file that ``nystrom run NAME -f FILE`` reads."""
    settings = this.settings({}, profile).to_plain()
    lines = [f"# Parameters of {this.name}, profile {profile}: nystrom run {this.name} -f THIS_FILE"]
    lines += [
        # A value in JSON is a value in YAML.
        f"{name}: {json.dumps(settings[name], ensure_ascii=False)}" + (f"  # {each.comment}" if each.comment else "")
        for name, each in this.parameters.declared().items()
    ]
    return "\n".join(lines) + "\n"
