"""The one registry of keys: footer, command palette and help are generated from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType
from textual.keys import format_key

Where = Literal[
    "studio",
    "start",
    "run",
    "decide",
    "plan",
    "code",
    "list",
    "find",
    "dialog",
    "save",
    "results",
    "skills",
    "play",
    "runs",
    "iterations",
    "calls",
]


@dataclass(frozen=True, slots=True)
class Key:
    """One thing a person can do by key, remappable by `id`."""

    id: str
    keys: str
    """Keys in Textual's spelling, separated by commas."""
    words: str
    """One or two words for the footer."""
    where: Where
    action: str
    help: str
    """A sentence for help and palette."""
    show: bool = False
    """True when the footer shows it (while it applies)."""
    priority: bool = False


WHERE_TITLES: Mapping[Where, str] = {
    "studio": "Everywhere",
    "start": "Before a run",
    "run": "A run",
    "decide": "When the run asks you",
    "plan": "Plan",
    "code": "Code",
    "list": "Lists and text",
    "find": "Searching a list",
    "dialog": "Dialogs",
    "save": "Saving skills",
    "results": "Results",
    "skills": "Skills",
    "play": "Watching a skill play",
    "runs": "Runs",
    "iterations": "Iterations side by side",
    "calls": "Calls of the language model",
}

KEYS: tuple[Key, ...] = (
    Key("start.go", "enter", "Start the run", "start", "go",
        "Start what the task line says", show=True),
    Key("decide.approve", "a", "Approve", "decide", "approve",
        "Approve exactly what is shown", show=True),
    Key("decide.try_again", "a", "Try again", "decide", "try_again",
        "Ask the language model once more", show=True),
    Key("decide.use_rules", "u", "Rules agents", "decide", "use_rules",
        "Let the rules agents go on with the run, without a model", show=True),
    Key("decide.as_proposed", "u", "As proposed", "decide", "as_proposed",
        "Take your edit back: what is asked is as it was proposed", show=True),
    Key("decide.edit", "e", "Edit", "decide", "edit", "Edit what is shown in place", show=True),
    Key("decide.reject", "r", "Reject", "decide", "reject",
        "Send it back with a comment", show=True),
    Key("decide.save_nothing", "r", "Save nothing", "decide", "save_nothing",
        "Let the run finish without saving a skill", show=True),
    Key("decide.approve_all", "A", "Approve all", "decide", "approve_all",
        "Approve this and everything the run asks after it"),
    Key("save.tick", "space", "Tick", "save", "tick",
        "Tick or untick a skill: only ticked ones are saved", show=True),
    Key("plan.add", "n", "New", "plan", "add", "Add a sub-action after the selected one",
        show=True),
    Key("plan.add_subtask", "N", "New subtask", "plan", "add_subtask",
        "Add a subtask after the selected one"),
    Key("plan.delete", "x,delete", "Delete", "plan", "delete", "Delete the selected part",
        show=True),
    Key("plan.flip", "m", "Mode", "plan", "flip",
        "Change between coded and learnt by RL", show=True),
    Key("plan.up", "K,shift+up", "Move up", "plan", "move(-1)", "Move the selected part up"),
    Key("plan.down", "J,shift+down", "Move down", "plan", "move(1)",
        "Move the selected part down"),
    Key("plan.undo", "u,ctrl+z", "Undo", "plan", "undo", "Undo the last edit of the plan",
        show=True),
    Key("plan.redo", "U,ctrl+y", "Redo", "plan", "redo", "Do an undone edit again"),
    Key("code.diff", "d", "Diff", "code", "toggle_diff",
        "Show what changed, or the whole code", show=True),
    Key("code.editor", "ctrl+e,f4", "Editor", "code", "external_editor",
        "Edit in $VISUAL or $EDITOR; also while editing in place", show=True, priority=True),
    Key("code.next_change", "n", "Next change", "code", "next_change",
        "Scroll to the next change of the diff"),
    Key("code.previous_change", "N", "Previous change", "code", "previous_change",
        "Scroll to the change before"),
    Key("code.earlier", "left_square_bracket", "Earlier", "code", "earlier",
        "Show the code proposed before this"),
    Key("code.later", "right_square_bracket", "Later", "code", "later",
        "Show the code proposed after this"),
    Key("code.copy", "y", "Copy", "code", "copy_code", "Copy the code to the clipboard"),
    Key("code.review", "v", "Full screen", "code", "review",
        "Review all code of the run on a screen of its own"),
    Key("code.keep", "ctrl+s", "Keep edit", "code", "keep_edit",
        "Keep the edited text; it still has to be approved", show=True),
    Key("play.again", "n", "Next seed", "play", "again",
        "Watch it again in another world", show=True),
    Key("play.pause", "p", "Pause", "play", "pause", "Let it stand still, or go on", show=True),
    Key("skills.watch", "w", "Watch it", "skills", "watch",
        "Watch the skill play in its world", show=True),
    Key("skills.kind", "t", "Kind", "skills", "next_kind",
        "Show coded actions only, policies only, or both", show=True),
    Key("skills.world", "o", "World", "skills", "next_world",
        "Show the skills of one world only, or of all"),
    Key("skills.diff", "d", "Diff", "skills", "toggle_diff",
        "Show what changed since the version before, or the whole code", show=True),
    Key("skills.earlier", "left_square_bracket", "Earlier", "skills", "version(-1)",
        "Show the version before"),
    Key("skills.later", "right_square_bracket", "Later", "skills", "version(1)",
        "Show the version after"),
    Key("skills.copy", "y", "Copy", "skills", "copy_code",
        "Copy the code to the clipboard"),
    Key("runs.open", "enter", "Open", "runs", "open", "Go to the run", show=True),
    Key("runs.resume", "R", "Resume", "runs", "resume",
        "Go on with a run that was interrupted or stopped", show=True),
    Key("runs.state", "t", "State", "runs", "next_state",
        "Show only runs at work, interrupted ones, ended ones, or all", show=True),
    Key("iterations.earlier", "left,h", "Earlier", "iterations", "screen.earlier",
        "Show the iterations before", show=True),
    Key("iterations.later", "right,l", "Later", "iterations", "screen.later",
        "Show the iterations after", show=True),
    Key("iterations.differences", "d", "Differences", "iterations", "screen.differences",
        "Show only what changed from one iteration to the next, or all", show=True),
    Key("calls.role", "t", "Role", "calls", "next_role",
        "Show the calls of one agent only, or of all", show=True),
    Key("calls.open", "enter", "Read", "calls", "open",
        "Read prompt and reply of the call", show=True),
    Key("calls.copy", "y", "Copy", "calls", "copy_reply", "Copy the reply to the clipboard"),
    Key("results.sort", "o", "Order", "results", "sort",
        "Sort by the difference to the untrained policy, or in the order of the chain",
        show=True),
    Key("run.plan", "1", "Plan", "run", "pane('plan')", "Go to the plan"),
    Key("run.code", "2", "Code", "run", "pane('code')", "Go to the code"),
    Key("run.trials", "3", "Trials", "run", "pane('trials')", "Go to the trials in the world"),
    Key("run.training", "4", "Training", "run", "pane('training')", "Go to the training curves"),
    Key("run.results", "5", "Results", "run", "pane('results')",
        "Go to the evaluation and to what is saved"),
    Key("run.log", "6", "Log", "run", "pane('log')", "Go to the log"),
    Key("run.iterations", "i", "Iterations", "run", "iterations",
        "Compare the plans of the run side by side, and what became of each"),
    Key("run.calls", "c", "Calls", "run", "calls",
        "Read what the language model was asked, and what it answered"),
    Key("run.follow", "f", "Follow", "run", "follow",
        "Let the panes follow what the run is doing", show=True),
    Key("run.pause", "p", "Pause", "run", "pause", "Pause the run", show=True),
    Key("run.continue", "p", "Continue", "run", "continue", "Let a paused run go on", show=True),
    Key("run.stop", "s", "Stop and keep", "run", "stop",
        "Stop the run and keep what it has learnt", show=True),
    Key("run.new", "ctrl+n", "New run", "run", "new_run",
        "Write another task; the present run goes on by itself"),
    Key("run.resume", "R", "Resume", "run", "resume",
        "Go on with a run that ended before it was done", show=True),
    Key("find.filter", "slash", "Filter", "find", "filter",
        "Show only what has the words you type", show=True),
    Key("list.down", "j", "Down", "list", "cursor_down", "Go one line down"),
    Key("list.up", "k", "Up", "list", "cursor_up", "Go one line up"),
    Key("list.first", "g", "First", "list", "first", "Go to the beginning"),
    Key("list.last", "G", "Last", "list", "last", "Go to the end"),
    Key("dialog.back", "escape", "Back", "dialog", "back",
        "Go one level back; never leaves the studio", show=True),
    Key("dialog.accept", "ctrl+s", "Accept", "dialog", "accept", "Accept what was entered",
        show=True),
    Key("studio.help", "f1,question_mark", "Help", "studio", "app.help",
        "Show what can be done here, and the keys for it", show=True),
    Key("studio.palette", "ctrl+p", "Commands", "studio", "app.command_palette",
        "Find a command by its words", show=True),
    Key("studio.skills", "f2", "Skills", "studio", "app.skills",
        "Browse the skill library", show=True),
    Key("studio.runs", "f3", "Runs", "studio", "app.runs",
        "Show earlier runs and go back to one", show=True),
    Key("studio.quit", "ctrl+q,q", "Quit", "studio", "app.leave",
        "Leave the studio; a run can go on without it", show=True),
)  # fmt: skip

_BY_ID: Mapping[str, Key] = {key.id: key for key in KEYS}


def key(key_id: str) -> Key:
    """The entry of that id; `KeyError` when the registry has none."""
    return _BY_ID[key_id]


def keys_of(where: Where) -> tuple[Key, ...]:
    """What can be done at one place, in the order of the registry."""
    return tuple(entry for entry in KEYS if entry.where == where)


def bindings(*places: Where, only: frozenset[str] | None = None) -> list[BindingType]:
    """Textual bindings of some places, in their order; `only` keeps those ids."""
    return [
        Binding(
            entry.keys,
            entry.action,
            entry.words,
            show=entry.show,
            priority=entry.priority,
            tooltip=entry.help,
            id=entry.id,
        )
        for place in places
        for entry in keys_of(place)
        if only is None or entry.id in only
    ]


def keys_for(entry: Key, remapped: Mapping[str, str]) -> tuple[str, ...]:
    """Keys of an entry as a person reads them, after the settings' own keymap."""
    spelled = remapped.get(entry.id, entry.keys)
    return tuple(display(name.strip()) for name in spelled.split(","))


def display(name: str) -> str:
    """One key as a person reads it: `ctrl+e` as `^e`, `question_mark` as `?`."""
    *modifiers, last = name.split("+")
    last = format_key(last)
    if "ctrl" in modifiers:
        modifiers.remove("ctrl")
        last = f"^{last}"
    return "+".join([*modifiers, last])


def unknown_ids(remapped: Mapping[str, str]) -> tuple[str, ...]:
    """Ids of a keymap which the registry does not have, for a warning at the start."""
    return tuple(sorted(name for name in remapped if name not in _BY_ID))
