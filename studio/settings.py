"""A person's settings: the TOML file, the environment over it, and clear words when they fail."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import ValidationError

    from engine.config import RunConfig

PREFIX = "RLGPT_STUDIO_"
"""`RLGPT_STUDIO_THEME` sets `theme`, `RLGPT_STUDIO_LLM__MODEL` sets `model` of `[llm]`."""

DEFAULT_THEME = "studio-dark"
RUN_SECTIONS = ("llm", "training", "llarp")
"""Sections of a run's configuration."""
SECTIONS = ("keymap", "run", *RUN_SECTIONS)
OTHER_VARIABLES = (f"{PREFIX}HOME", f"{PREFIX}DB")
"""Variables with the prefix that are no settings: `studio.paths` reads them."""
_PLACE = re.compile(r"\(at line (\d+)")
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chose; the defaults are what a fresh machine gets."""

    theme: str = DEFAULT_THEME
    """Name of a theme: the studio's own two, or one of Textual's."""
    editor: str | None = None
    """Command that edits a text file; None: `$VISUAL`, then `$EDITOR`."""
    task: str = "collect a diamond"
    """What the task line offers."""
    world: str = "crafter"
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Binding id -> keys, separated by commas."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `engine.config.RunConfig` for every new run."""
    llm: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `engine.config.LlmConfig`."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `engine.config.TrainingConfig`."""
    llarp: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `engine.llarp.settings.LlarpConfig`."""

    def run_config(
        self,
        changes: Mapping[str, Any] | None = None,
        *,
        task: str | None = None,
        folder: Path | None = None,
    ) -> RunConfig:
        """The configuration of a new run: `changes` over these settings over the defaults.

        Args:
            changes: by name; fields of the sections are written `llm.model`, `training.n_envs`.
            task: the task in words; None: the settings' own.
            folder: of the configuration; the folder `prompts` and the table `prices.toml` in it are
                used if they are there and no setting says otherwise.

        Raises:
            ConfigError: a name that is not there, or a value that cannot work.
        """
        from pydantic import ValidationError

        from engine.config import RunConfig

        values: dict[str, Any] = {"world": self.world, **self.run}
        values |= {section: dict(getattr(self, section)) for section in RUN_SECTIONS}
        for name, value in (changes or {}).items():
            if name == "task":
                raise ConfigError(
                    "The task is no setting of a run: it is what the run is started with.",
                    'Give it as the argument: rlgpt-studio run "collect a diamond"',
                )
            section, _, key = name.rpartition(".")
            if section and section not in RUN_SECTIONS:
                raise _unknown(name, _run_names())
            if section:
                values[section][key] = value
            else:
                values[key] = value
        values["task"] = self.task if task is None else task
        if folder is not None and (folder / "prompts").is_dir():
            values.setdefault("prompts", str(folder / "prompts"))
        if folder is not None and (folder / "prices.toml").is_file():
            values["llm"].setdefault("prices_file", str(folder / "prices.toml"))
        try:
            return RunConfig.model_validate(values)
        except ValidationError as error:
            raise _not_valid(error, "") from error


_PLAIN = ("theme", "editor", "task", "world")


def load_settings(path: Path, env: Mapping[str, str]) -> Settings:
    """Settings from the file (which need not be there) and the environment over it.

    Raises:
        ConfigError: the file cannot be read or has a key or value that cannot be; says where.
    """
    table, text = _read(path)
    values: dict[str, Any] = {}
    for name, value in table.items():
        where = _where(path, text, None, name)
        if name in _PLAIN:
            values[name] = _text(name, value, where)
        elif name in SECTIONS:
            if not isinstance(value, dict):
                raise ConfigError(f"{where}: `{name}` must be a section.", f"Write [{name}].")
            values[name] = value
        elif name in _run_names():
            raise ConfigError(
                f"{where}: `{name}` does not stand at the top of the file.", "Write it below [run]."
            )
        else:
            raise _unknown(name, (*_PLAIN, *SECTIONS), where)
    settings = Settings(**values)
    _check_theme(settings.theme, _where(path, text, None, "theme"))
    if settings.keymap:
        _check_keymap(settings.keymap, path, text)
    if any(getattr(settings, section) for section in ("run", *RUN_SECTIONS)):
        _check_run_sections(settings, path, text)
    return _with_environment(values, env)


def save_setting(path: Path, name: str, value: str | int | float | bool) -> None:
    """Writes one setting (`theme`, or `llm.model` of a section); comments in the file stay.

    Raises:
        EngineError: the file is broken or cannot be written.
    """
    import tomlkit

    from engine.files import write_atomically

    _, text = _read(path)
    document = tomlkit.parse(text)
    section, _, key = name.rpartition(".")
    if section:
        document.setdefault(section, tomlkit.table())[key] = value
    else:
        document[key] = value
    write_atomically(path, tomlkit.dumps(document).encode())


def _read(path: Path) -> tuple[dict[str, Any], str]:
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f"The settings {str(path)!r} cannot be read: {reason}.",
            "Make the file readable, or move it away to go on with the defaults.",
        ) from error
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place.group(1)) if place else len(text.splitlines())
        raise ConfigError(
            f"The settings {str(path)!r}, line {line}, are not valid TOML: {error}.",
            "Correct the line, or move the file away to go on with the defaults.",
        ) from error


def _where(path: Path, text: str, section: str | None, key: str) -> str:
    """File and line of a key, as well as it can be found in the text."""
    inside: str | None = None
    wanted = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*([^\]]+?)\s*\]", line)
        if header:
            inside = header.group(1)
            if section is None and inside == key:
                return f"{path}, line {number}"
        elif inside == section and wanted.match(line):
            return f"{path}, line {number}"
    return str(path)


def _text(name: str, value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(
            f"{where}: `{name}` must be a text, not {_SHORT.repr(value)}.", f'Write {name} = "..."'
        )
    return value


def _unknown(name: str, known: Sequence[str], where: str = "") -> ConfigError:
    alike = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"Did you mean {alike[0]!r}?" if alike else f"Known are: {', '.join(known)}."
    return ConfigError(
        f"{where}{': ' if where else ''}There is no setting {_SHORT.repr(name)}.", hint
    )


def _run_names() -> list[str]:
    from engine.config import LlmConfig, RunConfig, TrainingConfig
    from engine.llarp.settings import LlarpConfig

    own = [name for name in RunConfig.model_fields if name not in (*RUN_SECTIONS, "task")]
    fields = (LlmConfig.model_fields, TrainingConfig.model_fields, LlarpConfig.model_fields)
    for section, names in zip(RUN_SECTIONS, fields, strict=True):
        own += [f"{section}.{name}" for name in names]
    return own


def _check_run_sections(settings: Settings, path: Path, text: str) -> None:
    from pydantic import ValidationError

    from engine.config import RunConfig

    known = _run_names()
    for section in ("run", *RUN_SECTIONS):
        for key in getattr(settings, section):
            name = key if section == "run" else f"{section}.{key}"
            if name not in known:
                where = _where(path, text, section, key)
                if key in _PLAIN:
                    raise ConfigError(
                        f"{where}: `{key}` does not belong into [{section}].",
                        "Write it at the top of the file, above the first [section].",
                    )
                raise _unknown(name, known, where)
    values = {"task": settings.task, "world": settings.world, **settings.run}
    try:
        sections = {section: getattr(settings, section) for section in RUN_SECTIONS}
        RunConfig.model_validate(values | sections)
    except ValidationError as error:
        name, _, _ = _first_error(error)
        first, *rest = name.split(".")
        if first not in RUN_SECTIONS:
            where = _where(path, text, "run", first)
        elif rest:
            where = _where(path, text, first, rest[0])
        else:
            where = _where(path, text, None, first)
        raise _not_valid(error, where) from error


def _first_error(error: ValidationError) -> tuple[str, Any, str]:
    """Name, value and reason of the first error."""
    first = error.errors()[0]
    return ".".join(str(part) for part in first["loc"]), first["input"], str(first["msg"])


def _not_valid(error: ValidationError, where: str) -> ConfigError:
    name, value, reason = _first_error(error)
    if error.errors()[0]["type"] == "extra_forbidden":
        return _unknown(name, _run_names(), where)
    return ConfigError(
        f"{where}{': ' if where else ''}`{name}` cannot be {_SHORT.repr(value)}: "
        f"{reason[:1].lower()}{reason[1:]}.",
        f"Give {name} another value.",
    )


def _check_theme(name: str, where: str) -> None:
    if name == DEFAULT_THEME:
        return  # nothing of Textual is imported for it
    from textual.theme import BUILTIN_THEMES

    from studio.styles.themes import THEMES

    known = sorted({theme.name for theme in THEMES} | set(BUILTIN_THEMES))
    if name not in known:
        alike = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        raise ConfigError(
            f"{where}: There is no theme {_SHORT.repr(name)}.",
            (f"Did you mean {alike[0]!r}? " if alike else "") + f"There are: {', '.join(known)}.",
        )


def _check_keymap(keymap: Mapping[str, object], path: Path, text: str) -> None:
    from studio.key_names import key_problem
    from studio.keymap import KEYS

    known = [key.id for key in KEYS]
    for binding, keys in keymap.items():
        where = _where(path, text, "keymap", binding)
        if binding not in known:
            alike = difflib.get_close_matches(binding, known, n=1, cutoff=0.5)
            hint = f"Did you mean {alike[0]!r}? " if alike else ""
            raise ConfigError(
                f"{where}: there is no key binding {binding!r}.",
                f"{hint}The studio's help (F1) names all of them.",
            )
        problem = key_problem(_text(binding, keys, where))
        if problem:
            raise ConfigError(
                f"{where}: `{binding}` cannot be {_SHORT.repr(keys)}. {problem}",
                "Write keys like f2, ctrl+e or question_mark, separated by commas.",
            )


def is_true(value: object) -> bool:
    """Whether a setting that is on or off is on, as the fields of a run read it."""
    return str(value).lower() in ("true", "t", "yes", "y", "on", "1")


def unknown_variables(env: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each variable that looks like one of the studio's and is none."""
    found = [name for name in env if name.startswith(PREFIX) and "__" not in name]
    known = [*OTHER_VARIABLES, *(PREFIX + name.upper() for name in _PLAIN)]
    unknown = [name for name in found if name not in known]
    if not unknown:
        return ()
    for name in _run_names():
        known.append(PREFIX + (name if "." in name else f"run.{name}").upper().replace(".", "__"))
    return tuple(_unknown_variable(name, known) for name in sorted(unknown))


def _unknown_variable(name: str, known: Sequence[str]) -> str:
    alike = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    hint = f" Did you mean {alike[0]}?" if alike else ""
    return f"The variable {_SHORT.repr(name)} means nothing here and is ignored.{hint}"


def _from_variable(text: str) -> Any:
    """A list as TOML writes it becomes one; everything else stays text, which the fields parse."""
    import tomllib

    if not text.lstrip().startswith("["):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _with_environment(values: dict[str, Any], env: Mapping[str, str]) -> Settings:
    changed = False
    for variable, value in env.items():
        if not variable.startswith(PREFIX) or not value:
            continue
        section, nested, key = variable.removeprefix(PREFIX).lower().partition("__")
        if not nested:
            if section in _PLAIN:
                values[section] = _text(section, value, variable)
            if section == "theme":
                _check_theme(value, variable)
            continue
        if section not in ("run", *RUN_SECTIONS):
            raise _unknown(section, ("run", *RUN_SECTIONS), variable)
        name = key if section == "run" else f"{section}.{key}"
        if name not in _run_names():
            raise _unknown(name, _run_names(), variable)
        values[section] = {**values.get(section, {}), key: _from_variable(value)}
        changed = True
    settings = Settings(**values)
    if changed:
        try:
            settings.run_config()
        except ConfigError as error:
            raise ConfigError(f"From the environment: {error.message}", error.hint) from error
    return settings
