"""The arguments of the commands about suites; the modules that run them are imported on use."""

from sts.cli.command import (
    WORKERS,
    AddArgument,
    Command,
    action,
    argument,
    defer_in_workspace,
    group,
    option,
    repeatable,
    switch,
)
from sts.cli.settings import add_settings

STATUSES = ("undecided", "accepted", "rejected", "kept", "retired")
STRATA = ("difficulty", "source", "recorder")
_SUITE = argument("suite", "NAME@VERSION")
_CHECKED = repeatable(
    "--category module:NAME", "your own category, whose checks are run; repeatable"
)

LABEL = Command(
    "label continuations with their categories' rules, without annotators",
    "sts label {suite}",
    defer_in_workspace("sts_scenarios.commands.label:label"),
    (
        argument(
            "suite", "NAME@VERSION", "or NAME@VERSION+tag:T, to print the pass rates of a part"
        ),
        repeatable("--category module:NAME", "your own category; repeatable"),
    ),
)

DEMONSTRATE = Command(
    "record a teacher that does what categories ask, on training worlds",
    "sts demonstrate --teacher {agent} --episodes 100",
    defer_in_workspace("sts_scenarios.commands.demonstrate:demonstrate"),
    (
        option("--teacher A", "agent: a name, module:Class or PYTHON:module:Class", required=True),
        option("--episodes N", "number of worlds", least=1, required=True),
        option("--domain D", "environment (default: the teacher's)"),
        repeatable(
            "--category C",
            "ask for this one, a name or module:NAME; repeatable (default: all of the environment)",
        ),
        option("--noise P", "probability of a random move in place of the teacher's", 0.0),
        option("--seed S", "seed of the worlds, the instructions and the teacher", 0),
        WORKERS,
        add_settings,
    ),
)

MINE = Command(
    "mine scenarios from recorded trajectories into a draft",
    "sts mine mysuite --per-category 10 --seed 1",
    defer_in_workspace("sts_scenarios.commands.mine:mine"),
    (
        argument("name", "NAME", "name of the draft"),
        option("--per-category N", "maximum number of scenarios per category", 10),
        repeatable(
            "--category C", "only this one, a name or module:NAME; repeatable (default: all)"
        ),
        option(
            "--partner P",
            "behaviour of the other players: no-op, replay or agent:NAME (default: the category's)",
        ),
        option(
            "--where FILTER",
            "only at steps that satisfy a condition, such as 'last_reward < 0' (default: all)",
        ),
        option(
            "--miner module:NAME",
            "your function that yields candidates, for one --category (default: the category's)",
        ),
        option(
            "--split",
            "train: training episodes for instruction-following agents instead of scenarios",
            "test",
            choices=("test", "train"),
        ),
        option(
            "--from-sessions SOURCE",
            "what people asked in live sessions: requests, or failures of agents only",
            choices=("requests", "failures"),
        ),
        option(
            "--from-failures NAME@VERSION",
            "take a share from continuations of this suite whose automatic label is failure",
        ),
        option(
            "--failure-share S",
            "fraction of a category's scenarios from --from-failures (default: 0.3)",
            type=float,
        ),
        switch(
            "--distinct-profiles", "no two scenarios of a category with equal response profiles"
        ),
        option(
            "--discriminating-share S",
            "fraction of each category, 0 to 0.5, chosen because agents differ on it and at least "
            "one instruction-following agent passes",
            type=float,
        ),
        repeatable(
            "--agent A",
            "agent for response profiles and --from-failures; repeatable (default: the agents "
            "named by the environment's categories)",
        ),
        option(
            "--max-per-environment N",
            "maximum number of scenarios of a category from one world, at least a horizon apart "
            "(default: 1; with --from-sessions, all)",
            type=int,
        ),
        repeatable(
            "--stratify-by",
            "offer one candidate step of a world for each value; repeatable (default: all three)",
            choices=STRATA,
        ),
        option("--seed S", "seed of the selection", 0),
        WORKERS,
        switch("--overwrite", "replace an existing draft"),
    ),
)

SUITE = group(
    "list, show, compare, freeze and verify suites",
    "sts suite show {suite}",
    "sts_scenarios.commands.suite",
    action("ls", "list suites and drafts", at="sts_scenarios.commands.suite_list:ls"),
    action(
        "show {suite}",
        "show a suite's scenarios",
        argument("suite", "NAME@VERSION", "or a part: NAME@VERSION+tag:T+category:C"),
    ),
    action("verify {suite}", "check every hash and replay every context", _SUITE),
    action(
        "statement {suite}",
        "show how reliable, valid, standardised and unbiased a suite is, and what is missing",
        argument("suite", "NAME@VERSION", "or a part: NAME@VERSION+tag:T+category:C"),
        at="sts_analysis.commands.statement:make_statement",
    ),
    action(
        "tag mysuite@1 wrap walk-01 walk-02",
        "list, add or remove your own tags; the suite does not change",
        _SUITE,
        argument("tag", "TAG", "tag (default: list all)", nargs="?"),
        argument("id", "ID", "scenarios to tag", nargs="*"),
        switch("--remove", "remove the tag (default: add it)"),
    ),
    action(
        "save mysuite@1+tag:wrap+category:walk edges",
        "save a subset of a suite under a name",
        argument("suite", "NAME@VERSION+TERM", "tag:T, category:C and the like"),
        argument("name", "NAME", "name of the subset, used as NAME@VERSION+NAME"),
    ),
    action(
        "diff mysuite@1 mysuite@2",
        "show the scenarios that a version kept, added, retired and replaced",
        argument("old", "NAME@VERSION", "older version, or another suite"),
        argument("new", "NAME@VERSION", "newer version"),
    ),
    action(
        "build mysuite.toml",
        "build a suite from a recipe and installed recordings",
        argument("recipe", "RECIPE", "name of a packaged recipe, or a .toml file"),
    ),
    action(
        "freeze mysuite",
        "freeze a draft as the next version of a suite",
        argument("draft", "NAME[@VERSION]"),
        option("--description TEXT", "description in one line", ""),
        switch(
            "--unreviewed", "freeze instructions that neither a rule nor two curators have checked"
        ),
        _CHECKED,
    ),
)

_DRAFT = argument("name", "NAME")
_ID = argument("id", "ID")
_IDS = argument("id", "ID", nargs="*")
_LINKED = argument("id", "ID", "candidates; a single one is unlinked", nargs="+")
_AUTHOR = option("--user NAME", "curator who decides (default: your login)", dest="author")
_WHY = option("--reason TEXT", "reason in one line", required=True)
_REMARK = option("--reason TEXT", "reason in one line")
_AGAINST = (_DRAFT, _IDS, _WHY, _AUTHOR)


def _field_options(*, new: bool) -> tuple[AddArgument, ...]:
    """Return the options of a candidate's fields, for a `new` candidate or for an edit."""
    default = "" if new else " (default: unchanged)"
    required = " (required without --csv)" if new else default
    fallback = "(default: the category's)" if new else "(default: unchanged)"
    return (
        option("--takeover STEP", f"step of the trajectory{required}", type=int),
        option("--player P", f"evaluated player{required}", type=int),
        option("--category C", f"name, also of your own, or module:NAME{required}"),
        option("--context C", f"steps before the takeover {fallback}", type=int),
        option("--horizon H", f"steps after the takeover {fallback}", type=int),
        option("--partner P", f"behaviour of the other players {fallback}"),
        option(
            "--template N", f"instruction template of the category, from 0 {fallback}", type=int
        ),
        option("--instruction TEXT", f"instruction in your own words {fallback}"),
        option("--criterion TEXT", f"success criterion for the annotators {fallback}"),
        option("--edge-cases TEXT", f"what counts in doubtful cases {fallback}"),
        option("--kind K", f"instruction or question {fallback}"),
        option("--difficulty D", f"easy, medium or hard {fallback}"),
        repeatable("--tag T", f"tag; repeatable, replaces all tags {fallback}"),
        option("--pair NAME", f"name that the halves of a contrast pair share{default}"),
        option("--dialogue NAME", f"name that the turns of a dialogue share{default}"),
        option("--turn N", f"turn in the dialogue, from 1{default}", type=int),
        _AUTHOR,
    )


DRAFT = group(
    "inspect and decide candidates before they are frozen",
    "sts draft show mysuite",
    "sts_scenarios.commands.draft",
    action(
        "new --from mysuite@1",
        "start a draft of the next version of a suite, or an empty one",
        argument("name", "NAME", "name of an empty draft, with --domain", nargs="?"),
        option("--domain D", "environment of an empty draft: name or module:Class"),
        option("--from NAME@VERSION", "suite to start from, without NAME", dest="suite"),
        switch("--overwrite", "replace an existing draft"),
    ),
    action(
        "show mysuite",
        "list candidates and the decisions about them",
        _DRAFT,
        argument("id", "ID", "candidates (default: all)", nargs="*"),
        option("--status", "only candidates of this status (default: all)", choices=STATUSES),
        option(
            "--category C", "only candidates of this category, name or module:NAME (default: all)"
        ),
        switch("--profiles", "show how often agents pass by rule; missing continuations are run"),
        repeatable(
            "--agent A",
            "agent for --profiles; repeatable (default: the agents named by the environment's "
            "categories)",
        ),
        option("--user NAME", "curator who looks (default: your login)", dest="author"),
        at="sts_scenarios.commands.draft_show:show",
    ),
    action(
        "edit mysuite walk-01 --takeover 14",
        "change a candidate; dependent fields are derived again",
        _DRAFT,
        _ID,
        _REMARK,
        *_field_options(new=False),
        at="sts_scenarios.commands.draft_edit:edit",
    ),
    action(
        "add mysuite --trajectory 3f2a --takeover 14 --player 0 --category my:CATEGORY",
        "add a candidate at a step of your choice, or many from a table",
        _DRAFT,
        option("--trajectory T", "id of the trajectory or its first digits"),
        option(
            "--csv FILE",
            "table with a candidate per line, whose columns are called like these flags; replaces "
            "all of them but --user",
        ),
        *_field_options(new=True),
        at="sts_scenarios.commands.draft_edit:add",
    ),
    action(
        "accept mysuite walk-01",
        "accept candidates for the next version",
        _DRAFT,
        _IDS,
        switch("--all", "accept all undecided candidates unseen"),
        _REMARK,
        _AUTHOR,
    ),
    action("reject mysuite walk-02 --reason unclear", "reject candidates", *_AGAINST),
    action(
        "retire mysuite walk-03 --reason twin",
        "retire scenarios of the previous version",
        *_AGAINST,
    ),
    action(
        "undo mysuite walk-01", "undo the latest decision about candidates", _DRAFT, _IDS, _AUTHOR
    ),
    action(
        "pair mysuite walk-01 walk-02",
        "make two candidates of one takeover a contrast pair",
        _DRAFT,
        _LINKED,
        _AUTHOR,
        at="sts_scenarios.commands.draft_edit:link",
    ),
    action(
        "dialogue mysuite walk-01 walk-03",
        "make candidates the turns of one dialogue, in order",
        _DRAFT,
        _LINKED,
        _AUTHOR,
        at="sts_scenarios.commands.draft_edit:link",
    ),
    action(
        "rate mysuite walk-01 yes",
        "rate whether two people would agree about a candidate; other ratings are hidden",
        _DRAFT,
        _ID,
        argument("word", None, "undo removes your rating", choices=("yes", "no", "undo")),
        _AUTHOR,
    ),
    action("diff mysuite", "show the changes in the next version", _DRAFT),
    action(
        "check mysuite",
        "list what prevents freezing",
        _DRAFT,
        _CHECKED,
        switch("--quality-checks", "also show the pass rates of the categories' control policies"),
    ),
)
