"""The commands about suites, with all that they take; what they do is imported when they do it."""

from __future__ import annotations

from sts.cli.command import (
    WORKERS,
    Command,
    Row,
    action,
    argument,
    group,
    in_workspace,
    option,
    repeatable,
    switch,
)

STATUSES = ("undecided", "accepted", "rejected", "kept", "retired")
STRATA = ("difficulty", "source", "recorder")
_SUITE = argument("suite", "NAME@VERSION")
_CHECKED = repeatable(
    "--category module:NAME", "a category of your own, whose checks are run; repeatable"
)

LABEL = Command(
    "label continuations by rule, judged by nobody",
    "sts label {suite}",
    in_workspace("sts_scenarios.commands.label:label"),
    (
        argument(
            "suite", "NAME@VERSION", "or NAME@VERSION+tag:T, of which alone it is said what passes"
        ),
        repeatable("--category module:NAME", "a category of your own; repeatable"),
    ),
)

MINE = Command(
    "mine scenarios from recorded trajectories into a draft",
    "sts mine mysuite --per-category 10 --seed 1",
    in_workspace("sts_scenarios.commands.mine:mine"),
    (
        argument("name", "NAME", "of the draft"),
        option("--per-category N", "at most", 10),
        repeatable(
            "--category C", "only this one, a name or module:NAME; repeatable (default: all)"
        ),
        option(
            "--partner P",
            "what the others do: no-op, replay or agent:NAME (default: as the category says)",
        ),
        option(
            "--where FILTER",
            "only at steps of which this is true, such as 'last_reward < 0 and step > 20' "
            "(default: all)",
        ),
        option(
            "--miner module:NAME",
            "a function of yours that says where, for one --category (default: its own)",
        ),
        option(
            "--split",
            "train: moments that a learner can learn from to obey, for no suite",
            "test",
            choices=("test", "train"),
        ),
        option(
            "--from-failures NAME@VERSION",
            "a share from continuations of this suite that its labels say failed",
        ),
        option("--share S", "of a category's scenarios, from failures (default: 0.3)", type=float),
        switch("--unlike", "no two of a category that the same agents pass equally often"),
        option(
            "--by-effect S",
            "a share of each category, at most half, that tells some agents apart and that some "
            "reader passes",
            type=float,
        ),
        repeatable(
            "--agent A",
            "who tells scenarios apart for --unlike and --from-failures; repeatable (default: "
            "those that the world's categories name)",
        ),
        option("--per-world N", "of a category, at most, each at least its own length apart", 1),
        repeatable(
            "--stratum",
            "of a world, one moment of each of this is offered; repeatable (default: all three)",
            choices=STRATA,
        ),
        option("--seed S", "of the choice", 0),
        WORKERS,
        switch("--replace", "begin the draft anew"),
    ),
)

SUITE = group(
    "list, show, compare, freeze and verify suites",
    "sts suite show {suite}",
    "sts_scenarios.commands.suite",
    action("ls", "suites and drafts there are", at="sts_scenarios.commands.suite_list:ls"),
    action(
        "show {suite}",
        "what is in one",
        argument("suite", "NAME@VERSION", "or a part: NAME@VERSION+tag:T+category:C"),
    ),
    action("verify {suite}", "check every hash and replay", _SUITE),
    action(
        "tag mysuite@1 wrap walk-01 walk-02",
        "tags of your own, which change no suite",
        _SUITE,
        argument("tag", "TAG", "(default: list all)", nargs="?"),
        argument("id", "ID", "scenarios that it is given to", nargs="*"),
        switch("--remove", "take it from them"),
    ),
    action(
        "save mysuite@1+tag:wrap+category:walk edges",
        "keep a selection under a name",
        argument("suite", "NAME@VERSION+TERM", "tag:T, category:C and the like"),
        argument("name", "NAME", "then NAME@VERSION+NAME is the same part"),
    ),
    action(
        "diff mysuite@1 mysuite@2",
        "what a version kept, added, retired and replaced",
        argument("old", "NAME@VERSION", "the older, or a suite of another line"),
        argument("new", "NAME@VERSION", "the newer"),
    ),
    action(
        "freeze mysuite",
        "make a draft the next version",
        argument("draft", "NAME[@VERSION]"),
        option("--description TEXT", "one line", ""),
        _CHECKED,
    ),
)

_DRAFT = argument("name", "NAME")
_ID = argument("id", "ID")
_IDS = argument("id", "ID", nargs="*")
_LINKED = argument("id", "ID", "one alone: takes it all apart", nargs="+")
_AUTHOR = option("--as NAME", "who decides (default: your login)", dest="author")
_WHY = option("--reason TEXT", "why, in one line", required=True)
_REMARK = option("--reason TEXT", "why, in one line")


def _edited(*, new: bool) -> tuple[Row, ...]:
    """Return the flags of what a candidate can be: a new one, or one that stays as it is."""
    default = "" if new else " (default: as it is)"
    own = "(default: the category's)" if new else "(default: as it is)"
    return (
        option("--takeover STEP", f"of the trajectory{default}", type=int, required=new),
        option("--role R", f"who is asked{default}", type=int, required=new),
        option("--category C", f"a name or module:NAME{default}", required=new),
        option("--context C", f"steps before it {own}", type=int),
        option("--length L", f"steps after it {own}", type=int),
        option("--partner P", f"what the others do {own}"),
        option("--wording N", f"of the category, from 0 {own}", type=int),
        option("--text TEXT", f"words of your own {own}"),
        repeatable("--tag T", f"all its tags {own}"),
        _AUTHOR,
    )


DRAFT = group(
    "look at candidates and decide about them, before they are a suite",
    "sts draft show mysuite",
    "sts_scenarios.commands.draft",
    action(
        "from mysuite@1",
        "begin the next version of a suite",
        _SUITE,
        switch("--replace", "in the place of a draft that was not frozen"),
    ),
    action(
        "show mysuite",
        "candidates, and what was decided about each",
        _DRAFT,
        argument("id", "ID", "only these (default: all)", nargs="*"),
        option("--status", "only what is so (default: all)", choices=STATUSES),
        option("--category C", "only of this category, a name or module:NAME (default: all)"),
        switch(
            "--profiles",
            "with how many continuations of each agent are a success by rule, made where missing",
        ),
        repeatable(
            "--agent A",
            "of a profile; repeatable (default: those that the world's categories name)",
        ),
        option("--as NAME", "who looks (default: your login)", dest="author"),
        at="sts_scenarios.commands.listing:show",
    ),
    action(
        "edit mysuite walk-01 --takeover 14",
        "a candidate, deriving what depends on it",
        _DRAFT,
        _ID,
        _REMARK,
        *_edited(new=False),
        at="sts_scenarios.commands.changing:edit",
    ),
    action(
        "add mysuite --trajectory 3f2a --takeover 14 --role 0 --category my:CATEGORY",
        "a candidate at a moment of your choice",
        _DRAFT,
        option("--trajectory T", "its id or first digits", required=True),
        *_edited(new=True),
        at="sts_scenarios.commands.changing:add",
    ),
    action(
        "accept mysuite walk-01",
        "candidates into the next version",
        _DRAFT,
        _IDS,
        switch("--all", "all that is undecided, without a look at it"),
        _REMARK,
        _AUTHOR,
    ),
    action(
        "reject mysuite walk-02 --reason unclear",
        "candidates, saying why",
        _DRAFT,
        _IDS,
        _WHY,
        _AUTHOR,
    ),
    action(
        "retire mysuite walk-03 --reason twin",
        "scenarios of the parent, saying why",
        _DRAFT,
        _IDS,
        _WHY,
        _AUTHOR,
    ),
    action("undo mysuite walk-01", "the latest decision about candidates", _DRAFT, _IDS, _AUTHOR),
    action(
        "pair mysuite walk-01 walk-02",
        "two candidates of one takeover, credited together",
        _DRAFT,
        _LINKED,
        _AUTHOR,
        at="sts_scenarios.commands.changing:link",
    ),
    action(
        "series mysuite walk-01 walk-03",
        "candidates that are turns of one dialogue, in order",
        _DRAFT,
        _LINKED,
        _AUTHOR,
        at="sts_scenarios.commands.changing:link",
    ),
    action(
        "opinion mysuite walk-01 yes",
        "say whether two people would agree about a candidate, blind to what others say",
        _DRAFT,
        _ID,
        argument("word", None, "undo takes yours back", choices=("yes", "no", "undo")),
        _AUTHOR,
    ),
    action("diff mysuite", "what the next version changes", _DRAFT),
    action(
        "check mysuite",
        "why it cannot be frozen, if so",
        _DRAFT,
        _CHECKED,
        switch(
            "--gates",
            "with what chance, reward, a shortcut and a probe pass, by what categories declare",
        ),
    ),
)
