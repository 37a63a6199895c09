"""The commands of `rlgpt-studio` and their options; the work is done in the modules they call."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from engine.errors import ConfigError, EngineError, UnknownName
from studio.cli_bench import bench
from studio.cli_llarp import llarp_app
from studio.cli_output import BROKEN, INTERRUPTED, USAGE, Output, brief, give, pairs, tell
from studio.cli_place import here
from studio.paths import find_paths, shown_url
from studio.program_name import NAME
from studio.settings import unknown_variables
from studio.words import FAST_MODE

app = typer.Typer(
    help="Teach an embodied agent skills. Without a command the studio opens.",
    epilog="Exit codes: 0 finished, 1 the studio cannot work here, 2 bad usage, 3 the run "
    "failed, 4 it waits for an approval, 130 interrupted.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
runs_app = typer.Typer(help="List and show runs.", no_args_is_help=True)
skills_app = typer.Typer(help="List, show and search skills.", no_args_is_help=True)
app.add_typer(runs_app, name="runs")
app.add_typer(skills_app, name="skills")
app.add_typer(llarp_app, name="llarp")

OutputOption = Annotated[
    Output, typer.Option("--output", "-o", help="Text for people, or one JSON object.")
]
FastModeOption = Annotated[
    bool | None,
    typer.Option(
        "--fast-mode/--no-fast-mode",
        help=f"Off unless allowed: {FAST_MODE}.",
        show_default=False,
    ),
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Id, beginning or end of it, or `latest`.")
]


def call(arguments: Sequence[str]) -> int:
    """Runs one command; turns every expected error into words on stderr and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if "_RLGPT_STUDIO_COMPLETE" not in os.environ:
        for line in unknown_variables(os.environ):
            tell(f"Warning: {line}")
    try:
        app(args=list(arguments), prog_name=NAME)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except EngineError as error:
        tell(f"Error: {brief(error.message)}", error.hint)
        return USAGE if isinstance(error, ConfigError | UnknownName) else BROKEN
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        code = _database_code(error)
        if code is None:
            raise
        return code
    return 0


def _database_code(error: Exception) -> int | None:
    # SQLAlchemy is loaded already if the error can be one of the database.
    from skills_db.errors import DatabaseError, NotFound, RunIsAlive

    if not isinstance(error, DatabaseError):
        return None
    tell(f"Error: {brief(error.message)}", error.hint)
    return USAGE if isinstance(error, NotFound | RunIsAlive) else BROKEN


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        give("text", {}, f"{NAME} {version(NAME)}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Teach an embodied agent skills. Without a command the studio opens."""


@app.command()
def run(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="What to teach, in words: `collect a diamond`.")
    ],
    world: Annotated[str | None, typer.Option(help="World to act in.")] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Work without a screen.")] = False,
    approve: Annotated[
        Literal["ask", "all", "none"] | None,
        typer.Option(help="`ask` a person in a studio, approve `all`, or stop at the first."),
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(
            metavar="rules|llm|replay:RUN|replay:FILE",
            help="Who plans, writes and judges; a replay answers with recorded calls, for free.",
        ),
    ] = None,
    frames: Annotated[int | None, typer.Option(help="Env frames of RL training.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes of the evaluation.")] = None,
    trials: Annotated[int | None, typer.Option(help="Trials of each code version.")] = None,
    episode_length: Annotated[
        int | None, typer.Option(help="Env frames after which an episode ends.")
    ] = None,
    fast_mode: FastModeOption = None,
    policy: Annotated[
        Literal["llarp", "scratch", "lstm", "blind", "no_text"] | None,
        typer.Option(
            help="In the world `rearrange`: a frozen language model that acts (`llarp`), or one of "
            "its controls."
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any setting: training.n_envs=4"),
    ] = None,
    output: OutputOption = "text",
) -> None:
    """Start a run: in the studio, or with --headless right here.

    Ctrl-C of a headless run asks it to stop; what it has is kept, and `resume` goes on. A second
    Ctrl-C leaves at once.
    """
    from studio.cli_run import start

    named: dict[str, Any] = {
        "world": world,
        "approve": approve,
        "agents": agents,
        "frames": frames,
        "seed": seed,
        "eval_episodes": episodes,
        "trials": trials,
        "episode_length": episode_length,
        "fast_mode": fast_mode,
        "policy": policy,
    }
    given = {name: value for name, value in named.items() if value is not None}
    for change in changes or ():
        given.update([_assignment(change)])
    raise typer.Exit(start(here(), task, given, headless=headless, output=output))


def _assignment(text: str) -> tuple[str, Any]:
    import tomllib

    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(
            f"`--set {brief(text, 60)}` says no value.", "Write it like --set trials=3."
        )
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()


@app.command()
def resume(
    run: RunArgument,
    headless: Annotated[bool, typer.Option("--headless", help="Work without a screen.")] = False,
    approve: Annotated[
        Literal["all"] | None, typer.Option(help="`all`: approve whatever it asks from here on.")
    ] = None,
    fast_mode: FastModeOption = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Go on otherwise: llm.max_cost_usd=5"),
    ] = None,
    output: OutputOption = "text",
) -> None:
    """Go on with a run where it was stopped, interrupted or left waiting."""
    from studio.cli_run import go_on

    given: dict[str, Any] = dict(_assignment(change) for change in changes or ())
    if fast_mode is not None:
        given["fast_mode"] = fast_mode
    raise typer.Exit(
        go_on(
            here(),
            run,
            approve_all=approve == "all",
            headless=headless,
            output=output,
            changes=given,
        )
    )


@app.command()
def attach(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="A run; the newest one if none.")] = (
        "latest"
    ),
    output: OutputOption = "text",
) -> None:
    """Come back to a run in the studio; with --output json tell where it stands instead."""
    from studio.cli import open_studio
    from studio.cli_show import show_run

    if output == "json":
        show_run(here(), run, calls=False, role=None, output=output)
        return
    with here().database() as database:
        found = database.journal.run(run)
    raise typer.Exit(open_studio(attach=found.id))


@runs_app.command("list")
def runs_list(
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many at most.")] = 50,
    output: OutputOption = "text",
) -> None:
    """List runs, the newest first."""
    from studio.cli_show import list_runs

    list_runs(here(), limit, output)


@runs_app.command("show")
def runs_show(
    run: RunArgument,
    calls: Annotated[
        bool, typer.Option("--calls", help="Also every call of a language model.")
    ] = False,
    role: Annotated[
        str | None,
        typer.Option(help="With --calls: of planner, slow, fast or critic only."),
    ] = None,
    output: OutputOption = "text",
) -> None:
    """Show one run: where it stands, what it asks, what came of it."""
    from studio.cli_show import show_run

    show_run(here(), run, calls=calls, role=role, output=output)


@runs_app.command("export-calls")
def runs_export_calls(
    run: RunArgument,
    file: Annotated[str, typer.Argument(metavar="FILE", help="*.json, or *.jsonl: one a line.")],
) -> None:
    """Write the calls of a run's language model to a file, for `--agents replay:FILE`."""
    from studio.cli_calls import export_calls

    export_calls(here(), run, file)


@skills_app.command("list")
def skills_list(
    world: Annotated[str | None, typer.Option(help="Of one world.")] = None,
    kind: Annotated[
        Literal["coded_action", "policy"] | None, typer.Option(help="Of one kind.")
    ] = None,
    output: OutputOption = "text",
) -> None:
    """List skills, the last changed first."""
    from studio.cli_show import list_skills

    list_skills(here(), "", world, kind, output)


@skills_app.command("search")
def skills_search(
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS...", help="All must occur in name, words or code.")
    ],
    output: OutputOption = "text",
) -> None:
    """Find skills by words."""
    from studio.cli_show import list_skills

    list_skills(here(), " ".join(words), None, None, output)


@skills_app.command("show")
def skills_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the skill.")],
    version: Annotated[int | None, typer.Option(help="Version; the newest if none.")] = None,
    output: OutputOption = "text",
) -> None:
    """Show one skill: code, success figures, where it came from."""
    from studio.cli_show import show_skill

    show_skill(here(), name, version, output)


@app.command("eval")
def evaluate(
    world: Annotated[str | None, typer.Option(help="World to act in.")] = None,
    run: Annotated[str | None, typer.Option(help="The policy of this run.")] = None,
    skill: Annotated[str | None, typer.Option(help="This skill, `name` or `name@version`.")] = None,
    policy: Annotated[
        Literal["random", "rules"] | None, typer.Option(help="A policy that needs no run.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Task whose success is counted (with --policy).")
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="How many; 20 if not said.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="A:B", help="World seeds from A up to but without B.")
    ] = None,
    episode_length: Annotated[
        int | None, typer.Option(min=10, help="Env frames after which an episode ends.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="In the world `rearrange`: this split alone; `all` if not said."),
    ] = None,
    output: OutputOption = "text",
) -> None:
    """Evaluate a run, a skill or a policy on seeds of the world, or on the splits it has."""
    from studio.cli_eval import Wanted, evaluate_policy

    wanted = Wanted(world, run, skill, policy, task, episodes, seeds, episode_length, split)
    raise typer.Exit(evaluate_policy(here(), wanted, output))


app.command()(bench)


@app.command()
def doctor(output: OutputOption = "text") -> None:
    """Tell what is installed, what is missing, and how to get it."""
    from studio.doctor import as_json, examine, report

    checks = examine(os.environ)
    data = as_json(checks)
    give(output, data, report(checks))
    raise typer.Exit(0 if data["ok"] else BROKEN)


@app.command("paths")
def show_paths(output: OutputOption = "text") -> None:
    """Tell where things are stored."""
    paths = find_paths(os.environ)
    places = {
        "home": str(paths.home),
        "database": shown_url(paths.database_url),
        "config": str(paths.config_file),
        "log": str(paths.log_file),
    }
    give(output, places, pairs(places))
