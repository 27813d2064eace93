"""The commands of the core, with all that they take; what they do is imported when they do it."""

from __future__ import annotations

from pathlib import Path

from sts import registry
from sts.annotations.roles import DUTIES, ROLES
from sts.cli.command import (
    AGENTS,
    SUITE,
    WORKERS,
    Command,
    action,
    argument,
    deferred,
    group,
    in_workspace,
    option,
    repeatable,
    switch,
)
from sts.cli.settings import add_settings


def _formats(group: str) -> str:
    return f"one of {', '.join(registry.named(group))}"


RECORD = Command(
    "record agents on new worlds",
    "sts record --agent {agent} --episodes 100 --steps 60",
    in_workspace("sts.commands.record:record"),
    (
        AGENTS,
        option("--episodes N", "of each agent", least=1, required=True),
        option("--domain D", "whose worlds (default: the agent's)"),
        option("--steps T", "of an episode", 50),
        option("--seed S", "names the worlds and the draws", 0),
        WORKERS,
        add_settings,
    ),
)

_FILTERS = (
    option("--domain D", "only those of this domain (default: all)"),
    option("--who NAME", "only those that NAME took part in (default: all)"),
    option("--source TEXT", "only those whose source has TEXT in it (default: all)"),
    option("--split", "only those of this side (default: both)", choices=("train", "test")),
)
"""Which trajectories are meant."""

TRAJECTORIES = group(
    "import, list, show, verify and export recorded episodes",
    "sts trajectories export test-side.parquet --split test",
    "sts.commands.trajectories",
    action(
        "import recordings.parquet --format minari",
        "bring in recordings made elsewhere",
        argument("files", "FILE", "none where F finds its own", nargs="*"),
        option("--format F", _formats("sts.importers"), required=True),
        option("--domain D", "what replays them, where F asks: a name or module:Class"),
        at="sts.commands.importing:import_files",
    ),
    action("ls --who {agent}", "what there is", *_FILTERS),
    action(
        "show 1f0c",
        "one of them, and the state it began in",
        argument("id", "ID", "or its first digits; `ls --json` has them all"),
    ),
    action(
        "verify",
        "replay all of them, or those of files",
        argument("files", "FILE", "our Parquet files", nargs="*"),
    ),
    action(
        "export theirs.hdf5 --format minari",
        "write them for others to read",
        argument("file", "OUT", "the file or folder to make"),
        option("--format F", _formats("sts.exporters"), "parquet"),
        option("--role P", "whose steps, where F holds one participant's (default: 0)", type=int),
        option(
            "--draft NAME",
            "what sts mine NAME --split train made, with what it asks (default: recordings)",
        ),
        *_FILTERS,
    ),
)

RUN = Command(
    "let agents continue a suite's scenarios; resumable",
    "sts run {suite} --agent {agent} --agent {other} --continuations 10",
    in_workspace("sts.commands.run:run"),
    (
        SUITE,
        AGENTS,
        option("--continuations N", "a scenario", 10),
        option("--seed S", "names the agents' draws", 0),
        WORKERS,
        option("--executor NAME", "what has them done: local, or one of another package", "local"),
    ),
)

SHOW = Command(
    "show scenarios and continuations as strips, agents side by side",
    "sts show {suite}/{scenario} --agent {agent} --agent {other}",
    in_workspace("sts.commands.show:show"),
    (
        argument(
            "what",
            "SCENARIO|CONTINUATION",
            "NAME@VERSION/SCENARIO, DRAFT/CANDIDATE, or a continuation's id or its first digits",
            nargs="+",
        ),
        repeatable("--agent A", "of a scenario; repeatable (default: all)"),
        option("--index I", "which continuation", 0, least=0),
        option("--frames N", "scenes in a strip (default: what fits)", least=2),
        option("--webp FILE", "write the pictures of the one continuation there, moving"),
        option("--mp4 FILE", "the same as a film that any browser plays; needs the extra video"),
    ),
)

DOMAIN = group(
    "list domains, and check that one keeps what a domain promises",
    "sts domain check my_world:MyWorld --seeds 3 --steps 40",
    "sts.commands.domain",
    action("ls", "what is installed"),
    action(
        "check my_worlds:MyWorld --seeds 5",
        "hold a domain to every claim; exit code 1 if one fails",
        argument("name", "NAME|module:Class"),
        option("--seeds N", "worlds to try", 3),
        option("--steps T", "in each", 40),
        add_settings,
    ),
    run=deferred,
)

_PERSON = argument("name", "NAME", "1 to 64 printable characters")
_DUTIES = ", ".join(f"{role} {duty}" for role, duty in DUTIES.items())

ANNOTATORS = group(
    "add, invite, list and retire the people of a study, and say what each does",
    "sts annotators add Ana",
    "sts.commands.annotators",
    action(
        "add Ana --role curator",
        "add a person and show their invitation, once",
        _PERSON,
        repeatable("--role", "what they do; repeatable (default: annotator)", choices=ROLES),
        option("--email ADDRESS", "also sign in with the account of this address"),
    ),
    action(
        "link Ana", "invite a person again, for another browser too; a retired one is back", _PERSON
    ),
    action("revoke Ana", "end a person's sessions, and the invitation that waits", _PERSON),
    action("retire Ana", "let a person in no longer; their judgements stay", _PERSON),
    action(
        "forget Ana --yes",
        "empty a person's name and words; their judgements stay",
        _PERSON,
        switch("--yes", "do it (default: say what would be done)"),
    ),
    action(
        "role Ana lead",
        "give a person a role, or take it away",
        _PERSON,
        argument("role", None, _DUTIES, choices=ROLES),
        switch("--remove", "take it away (default: give)"),
    ),
    action(
        "email Ana ana@study.org",
        "say by which address a person can sign in, or by none",
        _PERSON,
        argument("email", "ADDRESS", "default: none any more", nargs="?"),
    ),
    action(
        "sessions",
        "list the browsers that people have entered with",
        argument("name", "NAME", "whose (default: everybody's)", nargs="?"),
    ),
    action("consents", "count who agreed to which version of the study's text"),
    action("ls", "list everyone, with what they do and how many continuations each has judged"),
)

REFERENCES = group(
    "keep the pool of continuations whose verdict is known",
    "sts references add CONTINUATION --truth success --step 7",
    "sts.commands.references",
    action(
        "add CONTINUATION --truth success --step 7",
        "put a continuation whose verdict is known into the pool",
        argument("continuation", "CONTINUATION", "its identity or the start of it"),
        option("--truth", "success, failure or not_done", required=True),
        option(
            "--step", "where the mark belongs, 1 to the horizon, counted from takeover", type=int
        ),
        option("--note", "why the truth is what it is", ""),
    ),
    action("ls", "list the pool"),
)

_JUDGED = argument("suite", "NAME@VERSION", "default: everything in the store", nargs="?")
_NAMES = switch("--names", "call people by name, for who leads (default: by pseudonym)")
_PSEUDONYMS = switch("--pseudonyms", "call people by pseudonym (default: by name, for who leads)")

ANNOTATIONS = group(
    "bring judgements in and out as a ratings table",
    "sts annotations export {suite}",
    "sts.commands.annotations",
    action(
        "import them.csv",
        "append judgements made elsewhere; all or nothing, and harmless when repeated",
        argument("file", "FILE", "a ratings table in CSV", type=Path),
    ),
    action(
        "export {suite}",
        "write the current judgements, corrections applied, and the digests of their sources",
        _JUDGED,
        option(
            "--out FILE",
            "the CSV file to write; FILE.json has the digests",
            Path("ratings.csv"),
            type=Path,
        ),
        _NAMES,
    ),
    action(
        "refused --json", "list what pages sent that could not be kept as a judgement", _PSEUDONYMS
    ),
    action(
        "verify",
        "find what was changed, lost or added behind the store's back; exit code 1 if anything",
    ),
    action(
        "audit --json",
        "say who judged which agent, and whether agents and annotators can be told apart",
        _JUDGED,
        _NAMES,
        at="sts.commands.audit:audit",
    ),
    action(
        "quality --json",
        "say how well people judge over time, what it took, and what they could not judge",
        _JUDGED,
        _PSEUDONYMS,
        at="sts.commands.quality:quality",
    ),
    action(
        "reviews {suite}",
        "count the errors that reviewers found in failures, and the rules they contradicted",
        argument("suite", "NAME@VERSION", "a suite that is judged"),
        at="sts.commands.reviews:reviews",
    ),
)

WORKSPACE = group(
    "back a workspace up while it is in use, restore it, move its database, and check it",
    "sts workspace backup study.backup",
    "sts.commands.workspace",
    action(
        "backup study.backup",
        "write all that people and agents made to one file; nobody has to stop for it",
        argument("file", "FILE", "to be made, where nothing is", type=Path),
    ),
    action(
        "restore study.backup --workspace restored",
        "make a backup a workspace again: a new one, or in an empty folder",
        argument("file", "FILE", "what `sts workspace backup` made", type=Path),
        description="make a backup a workspace again: a new one, or in an empty folder; a database "
        "of PostgreSQL goes into the empty one that STS_DATABASE_URL names",
    ),
    action(
        "move --to postgresql://sts@db.example:5432/sts",
        "move its database to an empty one, between SQLite and PostgreSQL; stop its server first",
        option(
            "--to URL",
            "postgresql://user@host:port/name, or sqlite for the workspace's own file",
            required=True,
        ),
    ),
    action(
        "check --against report.json",
        "look at everything in it for what is damaged, altered or missing; exit code 1 if any is",
        option(
            "--against FILE",
            "a report.json, or the JSON next to an exported table, whose sources must be there "
            "(default: none)",
            type=Path,
        ),
    ),
)
