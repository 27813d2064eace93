"""Builds the packaged suites `core@1` and `core@2` with the public commands, from recordings alone.

    python -m tests.reproduction.suites.build_core OUT

OUT gets the folders 1 and 2, with `suite.json` and `scenarios.parquet` in each. The rest is in
RECORDINGS and the seeds: the same agents give the same scenarios. The second is made from the first
as a curator makes it: begun from it, some of it retired for stated reasons, others mined in their
place, accepted, frozen. Nothing is chosen by hand; the rules stand in the suites' provenance.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.drafts import open_draft
from sts.suites.types import Suite
from sts.trajectories import store as trajectories
from sts_scenarios import categories
from sts_scenarios.mining import discrimination
from sts_scenarios.profiles import compute_profiles
from tests.reproduction.suites import dialogues, retiring
from tests.reproduction.suites.building import DRAFT, carry_out, flags, run

PERSON_LIKE = "tests.reproduction.suites.recorders:PersonLike"
INSTRUCTED = "tests.reproduction.suites.recorders:Instructed"
RECORDINGS = (
    ("random", 1, "10x10", 100),
    ("random", 2, "10x10", 400),
    ("random", 3, "8x12", 200),
    ("random", 5, "12x12", 100),
    ("random", 8, "10x10", 100),
    (PERSON_LIKE, 1, "12x8", 100),
    (PERSON_LIKE, 2, "10x10", 300),
    (PERSON_LIKE, 3, "12x12", 150),
    (PERSON_LIKE, 6, "12x12", 100),
    (INSTRUCTED, 2, "10x10", 200),
    (INSTRUCTED, 4, "12x10", 100),
    ("local-search", 2, "10x10", 200),
    ("local-search", 6, "10x10", 100),
    ("stigmergy", 4, "10x10", 150),
    ("rule", 3, "8x12", 150),
    ("wisdom-of-the-crowd", 2, "9x9", 100),
    ("speaking-maximiser", 2, "10x10", 150),
    ("oracle", 7, "12x12", 50),
)
"""Agent, team, grid and episodes; the seed is the place in the list, from 1."""
CATEGORIES = (
    *("ambush", "clean-take", "count-others", "evade-evil", "evil-from-good", "find-good-again"),
    *("follow-mate", "good-apart", "hold-until-evil", "keep-beside", "last-move", "next-move"),
    *("return-to-first", "shadow-evil", "when-evil", "where-was-evil"),
    *("catch-mate", "beside-or-leave", "evade-or-shadow"),
)
EPISODES, STEPS = 1.0, 50
"""The share of RECORDINGS' episodes that is recorded, and the steps of each."""
PER_CATEGORY, BY_EFFECT, DIALOGUES, SEED = 10, 0.4, 2, 1
SEVERAL = 8
"""How many are mined for each that was retired."""
NAME, CURATOR = "core", "build-core"
DESCRIPTIONS = (
    "Sixteen categories of Λ*, ten scenarios each, with two kinds of pairs, a team-mate that runs "
    "away and two dialogues, mined from recordings of this project's agents and scripts.",
    "core@1 without what tells no agents apart, is like another or cannot be judged, and with "
    "others in its place.",
)


def record() -> list[list[str]]:
    """Return the command lines that record, without the leading `sts`."""
    return [
        [
            *f"record --domain lambda-star --agent {agent} --team {team} --size {size}".split(),
            *f"--seed {seed} --steps {STEPS} --episodes {max(1, int(EPISODES * count))}".split(),
        ]
        for seed, (agent, team, size, count) in enumerate(RECORDINGS, 1)
    ]


def mine(counts: Mapping[str, int], share: float, seed: int) -> list[list[str]]:
    """Return the command lines that mine so many of each category."""
    return [
        f"mine {DRAFT} --per-category {count} --discriminating-share {share} --seed {seed}".split()
        + flags("category", (name for name in counts if counts[name] == count))
        for count in sorted(set(counts.values()))
    ]


def build(out: Path) -> list[Suite]:
    """Write both versions below the folder `out` and return them."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        carry_out(folder, record())
        carry_out(folder, mine(dict.fromkeys(CATEGORIES, PER_CATEGORY), BY_EFFECT, SEED))
        _talk(workspace, folder)
        reason = ["--reason", "by the rules of the suite's provenance"]
        carry_out(folder, [["draft", "accept", DRAFT, "--all", *reason, "--user", CURATOR]])
        first = _frozen(workspace, folder, 1)
        carry_out(folder, [["draft", "new", "--from", first.label]])
        _renew(workspace, folder, first)
        second = _frozen(workspace, folder, 2)
    made = [_name_version(first, 1), _name_version(second, 2)]
    for suite in made:
        store.write(out / str(suite.version), suite)
    return made


def _talk(workspace: Workspace, folder: str) -> None:
    """Add the dialogues to the draft, turn by turn."""
    taken = {one.world for one in open_draft(workspace, DRAFT).summaries()}
    every = dialogues.dialogues(trajectories.load(workspace), DIALOGUES, taken)
    for number, turns in enumerate(every):
        ids: list[str] = []
        for one in turns:
            there = {*open_draft(workspace, DRAFT).load_ids()}
            where = ["--trajectory", one.trajectory, "--takeover", str(one.takeover)]
            what = [
                "--player",
                str(one.player),
                "--category",
                one.category,
                "--template",
                str(number),
            ]
            carry_out(folder, [["draft", "add", DRAFT, *where, *what]])
            ids += {*open_draft(workspace, DRAFT).load_ids()} - there
        carry_out(folder, [["draft", "dialogue", DRAFT, *ids, "--user", CURATOR]])


def _renew(workspace: Workspace, folder: str, suite: Suite) -> None:
    """Retires scenarios of the draft, mines others, and accepts as many of these."""
    made = compute_profiles(suite.scenarios, categories.collect_names("lambda-star", "CURATION"))
    profiles = {one.profile.scenario: one.profile for one in made}
    why = retiring.retirements(suite.scenarios, profiles)
    gone = [one for one in suite.scenarios if one.id in why]
    counts = Counter({one.pair or one.id: one.category for one in gone}.values())
    carry_out(folder, [_decision("retire", id, one.reason) for id, one in why.items()])
    several = {name: SEVERAL * count for name, count in counts.items()}
    carry_out(folder, mine(several, discrimination.MAX_SHARE, SEED + 1))
    draft = open_draft(workspace, DRAFT)
    mined = draft.scenarios(
        dict.fromkeys({*draft.load_ids()} - {one.id for one in suite.scenarios}, "")
    )
    place = retiring.places(suite.scenarios, mined, {id: one.difficulty for id, one in why.items()})
    carry_out(folder, [_decision("accept", n, f"in the place of {o}") for n, o in place.items()])
    other = "another takes the place by its answer and difficulty"
    rest = [one.id for one in mined if one.id not in place]
    carry_out(folder, [_decision("reject", id, other) for id in rest])


def _decision(kind: str, id: str, reason: str) -> list[str]:
    return ["draft", kind, DRAFT, id, "--reason", reason, "--user", CURATOR]


def _frozen(workspace: Workspace, folder: str, version: int) -> Suite:
    described = ["--description", DESCRIPTIONS[version - 1]]
    carry_out(folder, [["suite", "freeze", DRAFT, *described]])
    return store.load(workspace, f"{DRAFT}@{version}")


def _name_version(suite: Suite, version: int) -> Suite:
    """Return a version under its own name, with the rules that it was made by."""
    parent = f"{NAME}@{version - 1}" if version > 1 else None
    own = collect_provenance() | {
        "made_by": "tests.reproduction.suites.build_core",
        "rules": rules(),
    }
    return replace(suite, name=NAME, parent=parent, provenance=own)


def rules() -> dict[str, Any]:
    """Return what the provenance of both versions says of how they were made."""
    return {
        "recordings": [[*one] for one in RECORDINGS],
        "chosen": "answers, difficulties, worlds and recorders evened out, by the seed",
        "by_effect": discrimination.effect_provenance("lambda-star", BY_EFFECT),
        "dialogues": dialogues.RULE,
        "retired": retiring.RULE,
        "replaced": retiring.REPLACING,
    }


def main(argv: Sequence[str]) -> int:
    return run("build_core", build, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
