"""`sts demo`: the whole pipeline on a suite, one public command after the other."""

from __future__ import annotations

import argparse
import shlex
from typing import NamedTuple

from sts.cli.command import Command


class Demo(NamedTuple):
    """What is demonstrated in one domain.

    Attributes:
      suite: `NAME@1`, packaged or made here.
      agents: who continues its scenarios.
      shown: the scenario that is shown, and two of the agents on it.
      making: the commands that make the suite where it is not packaged.
      scores: whether the agents have the score of Λ*'s own test.
    """

    suite: str
    agents: tuple[str, ...]
    shown: tuple[str, str, str]
    making: tuple[tuple[str, ...], ...] = ()
    scores: bool = False


DEMOS = {
    "lambda-star": Demo(
        suite="starter@1",
        agents=("random", "blind", "local-search", "stigmergy", "rule", "oracle"),
        shown=("reach-good-01", "rule", "random"),
        scores=True,
    ),
    "babyai": Demo(
        suite="babyai@1",
        agents=(
            *("babyai-random", "babyai-blind", "babyai-seeker", "babyai-noisy-bot-60"),
            *("babyai-noisy-bot-30", "babyai-noisy-bot-10", "babyai-bot"),
        ),
        shown=("babyai-go-to-01", "babyai-seeker", "babyai-random"),
    ),
    "overcooked": Demo(
        suite="overcooked@1",
        agents=(
            *("overcooked-stay", "overcooked-random", "overcooked-greedy", "overcooked-cloned"),
            "recorded",
        ),
        shown=("deliver-soup-01", "overcooked-cloned", "overcooked-random"),
        making=(
            ("trajectories", "import", "--format", "overcooked-2019"),
            ("mine", "overcooked", "--per-category", "5", "--replace"),
            ("suite", "freeze", "overcooked"),
            ("overcooked", "train"),
        ),
    ),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument(
        "--domain", choices=DEMOS, default="lambda-star", help="default lambda-star"
    )
    parser.add_argument("--no-app", action="store_true", help="stop after the report")
    parser.add_argument("--continuations", type=int, default=10, metavar="N", help="a scenario")
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes")
    parser.add_argument("--port", type=int, default=8501, metavar="P", help="of the annotator")


def steps(args: argparse.Namespace) -> list[list[str]]:
    """Returns the commands of the demo, in order, without the common flags."""
    from sts.storage.workspace import Workspace
    from sts.suites.store import versions

    demo = DEMOS[args.domain]
    players = [word for name in demo.agents for word in ("--agent", name)]
    count, workers = str(args.continuations), str(args.workers)
    scenario, *pair = demo.shown
    name, _, version = demo.suite.partition("@")
    made = int(version) in versions(Workspace.open(args.workspace)).get(name, {})
    commands = [] if made else [list(words) for words in demo.making]
    commands += [
        ["suite", "verify", demo.suite],
        ["run", demo.suite, *players, "--continuations", count, "--workers", workers],
        ["show", f"{demo.suite}/{scenario}", *(w for one in pair for w in ("--agent", one))],
        ["label", demo.suite],
    ]
    if demo.scores:
        commands.append(
            ["lambda-star", "score", *players, "--team", "3", "--episodes", "1000", "--save"]
        )
    commands.append(["report", demo.suite])
    if not args.no_app:
        commands.append(["annotate", demo.suite, "--as", "you", "--port", str(args.port)])
    return commands


def run(args: argparse.Namespace) -> int:
    """Runs the commands, each shown before it starts; stops at the first that fails.

    With --json each command's JSON is gathered and printed at the end, as one list.
    """
    import contextlib
    import io
    import json

    from sts.cli.main import main
    from sts.errors import ArgumentError

    if args.json and not args.no_app:
        raise ArgumentError("--json needs --no-app: the annotator prints for people")
    common = ["--workspace", args.workspace] if args.workspace else []
    common += ["--debug"] if args.debug else []
    gathered = []
    for words in steps(args):
        if args.json:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = main([*words, *common, "--json"])
            if code == 0:
                gathered.append({"command": words, "result": json.loads(printed.getvalue())})
        else:
            print(f"\n$ sts {shlex.join(words)}\n", flush=True)
            code = main([*words, *common])
        if code != 0:
            return code
    if args.json:
        print(json.dumps(gathered, indent=1, ensure_ascii=False))
    return 0


COMMAND = Command(
    summary="the whole pipeline on a suite, then the annotator",
    example="sts demo --no-app",
    configure=configure,
    run=run,
)
