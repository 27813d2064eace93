"""Which clips a report takes along, where it does not take all: those that tell most first."""

from collections.abc import Collection, Iterable, Mapping

from sts_analysis.evidence.dossiers import Dossier


def chosen(
    every: Iterable[Dossier],
    spread: Mapping[str, float | None],
    most: int | None,
    kept: Collection[str],
) -> dict[str, str]:
    """Returns the clips to show, each with a continuation that shows it.

    First come those in question; then of each agent and scenario one that passed and one that
    failed; then the rest. Within each, scenarios that separate the agents most come first.

    Args:
      every: what there is.
      spread: of each scenario, by its id.
      most: how many at most; None for all.
      kept: the continuations that can be shown.
    """
    ranked = []
    for dossier in every:
        apart = -(spread.get(dossier.scenario) or 0.0)
        examples = _examples(dossier)
        for clip in dossier.clips.values():
            if clip.continuation not in kept:
                continue
            rank = 0 if clip.in_question else 1 if clip.hash in examples else 2
            ranked.append((rank, apart, dossier.scenario, clip.hash, clip.continuation))
    return {hash: continuation for *_, hash, continuation in sorted(ranked)[:most]}


def _examples(dossier: Dossier) -> set[str]:
    """One clip that passed and one that failed, of each agent that has them."""
    found: dict[tuple[str, bool], str] = {}
    for agent, shares in dossier.agents.items():
        for share in shares:
            if share.value is not None:
                found.setdefault((agent, share.value >= 0.5), share.clip)
    return set(found.values())
