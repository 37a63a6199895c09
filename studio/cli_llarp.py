"""`llarp`: the frozen parts of LLaRP, made ready by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from studio.cli_output import FINISHED, give, tell
from studio.cli_place import here

if TYPE_CHECKING:
    from engine.llarp.encoder_training import Progress

llarp_app = typer.Typer(
    help="Make the frozen parts of LLaRP ready.", no_args_is_help=True, add_completion=False
)


@llarp_app.callback()
def _llarp() -> None:
    """Keep `encoder` a command of its own name."""


@llarp_app.command()
def encoder(
    frames: Annotated[int, typer.Option(min=128, help="Different frames to train on.")] = 40_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of frames and weights.")] = 0,
) -> None:
    """Train the frozen visual encoder anew; runs made before keep theirs by its hash.

    The first run in the world `rearrange` does it by itself where none is there yet.
    """
    from engine.config import Home
    from engine.llarp.encoder import save_encoder
    from engine.llarp.encoder_training import EncoderConfig, train_encoder

    def report(progress: Progress) -> None:
        tell(f"{progress.frames / progress.of:4.0%}  loss {progress.loss:.4f}")

    path = Home(here().paths.home).encoder
    trained = train_encoder(EncoderConfig(frames=frames, seed=seed), report)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_encoder(path, trained)
    sight = trained.facts["sight"]
    data = {"file": str(path), "hash": trained.source_hash, "sight": sight}
    text = (
        f"{path}\naverage precision in unseen flats: categories {sight['categories_mean']:.2f} "
        f"(chance {sight['chance']:.2f}), receptacles {sight['receptacles_mean']:.2f}, "
        f"handles {sight['handles_mean']:.2f}; held object right in {sight['held']:.0%} of frames"
    )
    give("text", data, text)
    raise typer.Exit(FINISHED)
