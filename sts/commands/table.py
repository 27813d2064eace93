"""The arguments of the core commands; the modules that run them are imported on use."""

from pathlib import Path

from sts import registry
from sts.annotations.people.roles import DUTIES, ROLES
from sts.cli.command import (
    AGENTS,
    SUITE,
    WORKERS,
    Command,
    action,
    argument,
    defer_import,
    defer_in_workspace,
    group,
    option,
    repeatable,
    switch,
)
from sts.cli.settings import add_settings


def _describe_formats(group: str) -> str:
    return f"one of {', '.join(registry.list_entry_points(group))}"


RECORD = Command(
    "record agents on new worlds",
    "sts record --agent {agent} --episodes 100 --steps 60",
    defer_in_workspace("sts.commands.pipeline:record"),
    (
        AGENTS,
        option("--episodes N", "number of episodes of each agent", least=1, required=True),
        option("--domain D", "environment (default: the agent's)"),
        option("--steps T", "steps per episode", 50),
        option("--seed S", "seed of the worlds and of the agents", 0),
        WORKERS,
        add_settings,
    ),
)

_FILTERS = (
    option("--domain D", "only trajectories of this environment (default: all)"),
    option("--played-by NAME", "only trajectories with this player (default: all)"),
    option("--source TEXT", "only trajectories whose source contains TEXT (default: all)"),
    option("--split", "only trajectories of this split (default: both)", choices=("train", "test")),
)
"""Options that filter trajectories."""

TRAJECTORIES = group(
    "import, list, show, verify and export recorded episodes",
    "sts trajectories export test.parquet --split test",
    "sts.commands.trajectories",
    action(
        "import recordings.parquet --format minari",
        "import recordings of other programs",
        argument("files", "FILE", "files to import; none if the format finds them", nargs="*"),
        option("--format F", _describe_formats("sts.importers"), required=True),
        option("--domain D", "environment that replays them, if F needs it: name or module:Class"),
        at="sts.commands.importing:import_files",
    ),
    action("ls --played-by {agent}", "list trajectories", *_FILTERS),
    action(
        "show 1f0c",
        "show a trajectory and its initial state",
        argument("id", "ID", "id or its first digits, see `ls --json`"),
    ),
    action(
        "verify",
        "replay all trajectories, or those of files",
        argument("files", "FILE", "Parquet files of this project", nargs="*"),
    ),
    action(
        "export theirs.hdf5 --format minari",
        "write trajectories in a format that other programs read",
        argument("file", "OUT", "file or folder to create"),
        option("--format F", _describe_formats("sts.exporters"), "parquet"),
        option("--player P", "player to export, if F holds one player (default: 0)", type=int),
        option(
            "--draft NAME",
            "training episodes of the draft made by `sts mine NAME --split train` "
            "(default: recordings)",
        ),
        *_FILTERS,
    ),
)

RUN = Command(
    "run agents on a suite's scenarios; resumable",
    "sts run {suite} --agent {agent} --agent {other} --continuations 10",
    defer_in_workspace("sts.commands.pipeline:run"),
    (
        SUITE,
        AGENTS,
        option("--continuations N", "continuations per scenario and agent", 3),
        option("--seed S", "seed of the agents", 0),
        WORKERS,
        option(
            "--executor NAME", "program that runs the work: local, or the name of a plugin", "local"
        ),
        switch("--no-replay", "do not check that continuations of your agents can be played again"),
    ),
)

SHOW = Command(
    "show scenarios and continuations as filmstrips, agents side by side",
    "sts show {suite}/{scenario} --agent {agent} --agent {other}",
    defer_in_workspace("sts.commands.show:show"),
    (
        argument(
            "what",
            "SCENARIO|CONTINUATION",
            "NAME@VERSION/SCENARIO, DRAFT/CANDIDATE, or a continuation's id or its first digits",
            nargs="+",
        ),
        repeatable(
            "--agent A",
            "agent to show, named as in reports or as for sts run; repeatable (default: two)",
        ),
        option("--index I", "number of the continuation, from 0", 0, least=0),
        option("--frames N", "frames in a filmstrip (default: as many as fit)", least=2),
        option("--webp FILE", "write one continuation as an animation"),
        option("--mp4 FILE", "write one continuation as a video; needs the extra video"),
    ),
)

DOMAIN = group(
    "list environments and run their conformance tests",
    "sts domain check my_world:MyWorld --seeds 3 --steps 40",
    "sts.commands.domain",
    action("ls", "list the installed environments"),
    action(
        "check my_worlds:MyWorld --seeds 5",
        "run every conformance test; exit code 1 if one fails",
        argument("name", "NAME|module:Class"),
        option("--seeds N", "number of worlds", 3),
        option("--steps T", "steps in each world", 40),
        add_settings,
    ),
    run=defer_import,
)

_PERSON = argument("name", "NAME", "1 to 64 printable characters")
_ROLE_HELP = ", ".join(f"{role} {duty}" for role, duty in DUTIES.items())

_DECISION = (
    option("--reason TEXT", "reason, one line", required=True),
    option("--user LEAD", "study lead who decides (default: your login)", dest="author"),
)

ANNOTATORS = group(
    "add, invite, list and deactivate the members of a study, and set their roles",
    "sts annotators add Ana",
    "sts.commands.annotators",
    action(
        "add Ana --role curator",
        "add a person, or those in a CSV file, and show their invitation links once",
        argument("name", "NAME", "1 to 64 printable characters", nargs="?"),
        option("--csv FILE", "people to add: columns name, role and email", type=Path),
        repeatable("--role", "role; repeatable (default: annotator)", choices=ROLES),
        option("--email ADDRESS", "email address that may sign in as this person"),
    ),
    action(
        "invite Ana",
        "create a new invitation link, also for another browser; reactivates the person",
        _PERSON,
    ),
    action("sign-out Ana", "sign a person out everywhere and cancel their invitation", _PERSON),
    action("deactivate Ana", "end a person's access; their judgements are kept", _PERSON),
    action(
        "anonymise Ana --yes",
        "erase a person's name, comments and live sessions; their judgements are kept",
        _PERSON,
        switch("--yes", "erase (default: only show what would be erased)"),
        option(
            "--suites",
            "erase or keep recordings of the person in frozen suites (default: refuse)",
            choices=("erase", "keep"),
        ),
    ),
    action(
        "role Ana lead",
        "give a person a role or remove it",
        _PERSON,
        argument("role", None, _ROLE_HELP, choices=ROLES),
        switch("--remove", "remove the role (default: give it)"),
    ),
    action(
        "email Ana ana@study.org",
        "set or remove the email address with which a person signs in",
        _PERSON,
        argument("email", "ADDRESS", "address (default: remove it)", nargs="?"),
    ),
    action(
        "sessions",
        "list the browsers in which people are signed in",
        argument("name", "NAME", "person (default: all)", nargs="?"),
    ),
    action(
        "exclude Ana --reason 'judged without watching'",
        "exclude a person's judgements from all results; every report gives the reason",
        _PERSON,
        *_DECISION,
        switch("--withdraw", "count them again (default: exclude them)"),
    ),
    action(
        "recruit --people 50",
        "create or close the link with which participants of a crowd platform join",
        option("--people N", "create a link for at most N people, replacing any other", least=1),
        switch("--close", "close the link; its participants stay signed in"),
    ),
    action(
        "hours --out hours.csv",
        "write the active hours of each pseudonym, for payment",
        option("--out FILE", "CSV file to write", Path("hours.csv"), type=Path),
    ),
    action("consents", "count the consents to each version of the study's text"),
    action("ls", "list all people with their roles and numbers of judgements"),
)

_SUITE = argument("suite", "NAME@VERSION", "suite (default: all)", nargs="?")

REFERENCES = group(
    "manage reference clips, whose verdict is known",
    "sts references add CONTINUATION --verdict success --step 7",
    "sts.commands.references",
    action(
        "add CONTINUATION --verdict success --step 7",
        "add a continuation whose verdict is known, or those in a CSV file",
        argument("continuation", "CONTINUATION", "id or its first digits", nargs="?"),
        option("--csv FILE", "clips to add: columns continuation, verdict, step, note", type=Path),
        option("--verdict", "success, failure or not_done"),
        option("--step", "step of the marker, 1 to the horizon, from the takeover", type=int),
        option("--note", "reason for the verdict", ""),
    ),
    action("ls", "list the reference clips"),
    action(
        "propose {suite}",
        "list clips on which three annotators agree, some of them by the instruction alone",
        _SUITE,
        switch("--add", "add them as references (default: only list them)"),
    ),
)

_NAMES = switch("--real-names", "show real names, for the study lead (default: pseudonyms)")
_PSEUDONYMS = switch("--pseudonyms", "show pseudonyms (default: real names, for the study lead)")

ANNOTATIONS = group(
    "import, export and check judgements",
    "sts annotations export {suite}",
    "sts.commands.annotations",
    action(
        "import them.csv",
        "append the judgements of a ratings table; all or none, and safe to repeat",
        argument("file", "FILE", "ratings table in CSV", type=Path),
    ),
    action(
        "export {suite}",
        "write the current judgements, with corrections applied, and their sources' hashes",
        _SUITE,
        option(
            "--out FILE",
            "CSV file to write; the hashes go to FILE.json",
            Path("ratings.csv"),
            type=Path,
        ),
        _NAMES,
    ),
    action("rejected --json", "list submissions from pages that were rejected", _PSEUDONYMS),
    action(
        "verify",
        "find records that were changed, deleted or inserted from outside; exit code 1 if any",
    ),
    action(
        "balance --json",
        "show which annotators judged which agents, and whether their effects can be separated",
        _SUITE,
        _NAMES,
    ),
    action(
        "rounds {suite}",
        "show how far each round of judging is, and how many hours are left",
        argument("suite", "NAME@VERSION", "annotated suite"),
    ),
    action(
        "quality --json",
        "show annotators' accuracy and attention, annotation time and unjudgeable scenarios",
        _SUITE,
        _PSEUDONYMS,
        at="sts.commands.quality:quality",
    ),
    action(
        "close {suite} --reason 'the funding ends'",
        "close a study before all planned clips are judged; every report gives the reason",
        argument("suite", "NAME@VERSION", "annotated suite"),
        *_DECISION,
        switch("--reopen", "reopen a closed study (default: close it)"),
    ),
    action(
        "reviews {suite}",
        "count the error types that reviewers gave, and the automatic labels they corrected",
        argument("suite", "NAME@VERSION", "annotated suite"),
    ),
)

WORKSPACE = group(
    "back up, restore and check a workspace, and move its database",
    "sts workspace backup study.backup",
    "sts.commands.workspace",
    action(
        "backup study.backup",
        "write the workspace to one file, also while it is in use",
        argument("file", "FILE", "new file", type=Path),
    ),
    action(
        "restore study.backup --workspace restored",
        "restore a backup into a new workspace or an empty folder",
        argument("file", "FILE", "backup file", type=Path),
        description="restore a backup into a new workspace or an empty folder; a PostgreSQL "
        "database is restored into the empty one that STS_DATABASE_URL names",
    ),
    action(
        "move --to postgresql://sts@db.example:5432/sts",
        "move the database to an empty one, SQLite or PostgreSQL; stop the server first",
        option(
            "--to URL",
            "postgresql://user@host:port/name, or sqlite for a file in the workspace",
            required=True,
        ),
    ),
    action(
        "check --sources-of report.json",
        "find damaged, altered and missing files and records; exit code 1 if there are any",
        option(
            "--sources-of FILE",
            "a report.json, or the JSON file of an exported table, whose sources must be present "
            "(default: none)",
            type=Path,
        ),
    ),
)
