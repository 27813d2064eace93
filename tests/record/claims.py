"""What the record holds: one function a claim, each of which returns JSON values.

A value is a dictionary of short texts or of numbers, keyed by what a reader would look for: an
agent and a category, a team, a figure. A difference then says where it is.
"""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from sts.episodes import Episode
from tests.analysis.variants import draw_study
from tests.record import adapter
from tests.record.adapter import Played
from tests.record.digests import digest, draw, rounded

DATA = Path(__file__).parents[1] / "data"
LAMBDA_STAR = (
    *("random", "local-search", "blind", "rule", "stigmergy", "oracle", "wisdom-of-the-crowd"),
    *("bidding", "dictatorship", "binary-tree", "imitation", "q-learning", "sarsa"),
    *("cooperative-q-learning", "cooperative-sarsa", "reader", "reader-without-memory"),
    *("reader-near", "reader-half", "reader-noisy-30", "reader-noisy-60", "fugitive"),
    "speaking-maximiser",
)
BABYAI = (
    *("babyai-bot", "babyai-noisy-bot-10", "babyai-noisy-bot-30", "babyai-noisy-bot-60"),
    *("babyai-seeker", "babyai-blind", "babyai-reader", "babyai-reader-half", "babyai-reader-near"),
    *("babyai-reader-noisy-30", "babyai-reader-noisy-60", "babyai-reader-without-memory"),
)
SUITES = {
    "core@2": (LAMBDA_STAR, 2),
    "babyai@2": (BABYAI, 1),
}
"""Who continues each packaged suite, and how many continuations of each scenario they make."""
RECORDINGS: dict[str, Sequence[Sequence[str]]] = {
    "lambda-star": (
        "--agent random --agent local-search --agent reader --agent fugitive --agent stigmergy "
        "--episodes 24 --steps 40 --size 8x9 --team 3 --seed 11".split(),
        "--agent random --agent oracle --episodes 40 --steps 30 --size 6x6 "
        "--patterns lambdastar-2016 --seed 12".split(),
    ),
    "babyai": (
        "--agent babyai-bot --agent babyai-noisy-bot-30 --agent babyai-seeker "
        "--agent babyai-reader --agent babyai-blind --episodes 30 --steps 40 --seed 13".split(),
    ),
    "overcooked": (
        "--agent overcooked-greedy --agent overcooked-stay --episodes 30 --steps 60 "
        "--seed 14".split(),
    ),
    "gymnasium": (
        "--domain gymnasium:FrozenLake-v1 --agent tests.record.agents:Walker --episodes 45 "
        "--steps 30 --seed 15".split(),
        "--domain gymnasium:Taxi-v4 --agent tests.record.agents:Driver --episodes 45 "
        "--steps 30 --seed 16".split(),
    ),
}
"""500 trajectories: what `sts record` is asked for in each world."""
ANNOTATORS, REVIEWER = ("Ana", "Bo", "Cyd"), "Dee"
STUDY = ("random", "local-search", "rule", "reader")
CLIPS, REFERENCES = 96, 4


class Claims:
    """Computes the claims of the record in folders below one folder."""

    def __init__(self, folder: Path, workers: int = 1) -> None:
        """Compute nothing yet.

        Args:
          folder: for workspaces and tables.
          workers: processes that play; the record does not depend on it.
        """
        self._folder, self._workers = folder, str(workers)

    def record_world(self, world: str) -> dict[str, Any]:
        """Return the trajectories of one world, replayed: those of each agent."""
        folder = self._folder / f"recorded-{world}"
        for words in RECORDINGS[world]:
            adapter.sts(folder, "record", *words, "--workers", self._workers)
        adapter.sts(folder, "trajectories", "verify")
        found = adapter.load_trajectories(folder)
        return {"trajectories": len(found)} | _by_agent(found)

    def suite_hashes(self) -> dict[str, str]:
        """Return the content hash of each packaged suite."""
        return {suite: adapter.load_suite_hash(self._folder, suite) for suite in sorted(SUITES)}

    def continuations(self, suite: str) -> dict[str, str]:
        """Return what each agent does in each category: moves, rewards and final states."""
        found = adapter.load_continuations(self.continue_suite(suite), suite)
        states = adapter.final_states([one.episode for one in found])
        groups: dict[str, list[int]] = {}
        for i, one in enumerate(found):
            groups.setdefault(f"{one.agent} {one.category}", []).append(i)
        out = {}
        for key, rows in sorted(groups.items()):
            own = [found[i].episode for i in rows]
            deeds = digest(array for e in own for array in (e.actions, e.utterances))
            ends = digest(states[i] for i in rows)
            out[key] = f"{len(rows)} {deeds} {digest(e.rewards for e in own)} {ends}"
        return out

    def labels(self, suite: str) -> dict[str, str]:
        """Return the automatic labels of each agent in each category: counts and a digest."""
        folder = self.continue_suite(suite)
        adapter.sts(folder, "label", suite)
        out, groups = {}, adapter.load_labels(folder, suite).groupby(["agent", "category"])
        for (agent, category), own in groups:
            counts = own["verdict"].value_counts()
            said = " ".join(f"{counts.get(v, 0)}" for v in ("success", "failure", "not_done", ""))
            steps = own["step"].fillna(0).astype(int)
            rows = zip(own["scenario"], own["index"], own["verdict"], steps, strict=True)
            lines = (f"{s} {i} {v} {t}" for s, i, v, t in rows)
            out[f"{agent} {category}"] = f"{said} {digest(lines)}"
        return out

    def continue_suite(self, suite: str) -> Path:
        """Return the workspace in which the agents have continued a suite; a second run is none."""
        folder = self._folder / f"continued-{suite}"
        agents, count = SUITES[suite]
        named = [word for name in agents for word in ("--agent", name)]
        options = ("--continuations", str(count), "--workers", self._workers)
        adapter.sts(folder, "run", suite, *named, *options)
        return folder

    def published_episodes(self) -> dict[str, Any]:
        """Return the episodes of the published program, imported and replayed: those of a team."""
        folder, file = self._folder / "published", self._folder / "traces.jsonl"
        packed = DATA / "lambdastar_2016_traces.jsonl.xz"
        file.write_bytes(lzma.decompress(packed.read_bytes()))
        adapter.sts(folder, "trajectories", "import", str(file), "--format", "lambdastar-2016")
        adapter.sts(folder, "trajectories", "verify")
        found = adapter.load_trajectories(folder)
        return {"trajectories": len(found)} | _by_agent(found)

    def scores(self, name: str) -> dict[str, Any]:
        """Return the scores of the published behaviours in one setting, and their differences."""
        words = [*SCORES[name].split(), "--agent", "all", "--workers", self._workers]
        scores = adapter.sts_json(self._folder / "scores", "lambda-star", "score", *words)
        rows = {one["agent"]: [one["mean"], one["standard_error"]] for one in scores["agents"]}
        pairs = {
            f"{one['a']} - {one['b']}": [one["difference"], one["standard_error"]]
            for one in scores["differences"]
        }
        return {key: rounded(own) for key, own in (rows | pairs).items()}

    def simulated_report(self) -> dict[str, Any]:
        """Return rates, intervals and differences of a simulated ratings table."""
        file, out = self._folder / "simulated.csv", self._folder / "simulated"
        table = draw_study(
            {"ada": 1.0, "ben": 0.2, "cyd": -0.5, "dot": 0.3, "eve": -1.2},
            categories=("carry", "find", "follow", "say"),
            seed=7,
            scenarios=24,
            people=("p", "q", "r"),
            per_trajectory=2,
        )
        table.to_csv(file, index=False)
        return self._report(file, out) | {"table": digest([file.read_bytes()]), "rows": len(table)}

    def study(self, folder: Path) -> dict[str, Any]:
        """Return a study of 300 answers: who judged what, how often, its history and its report.

        Args:
          folder: a new one, for its workspace; the environment names the database.
        """
        named = [word for name in STUDY for word in ("--agent", name)]
        adapter.sts(folder, "run", "core@2", *named, "--continuations", "1")
        found = adapter.load_continuations(folder, "core@2")
        items, references = _choose(found)
        played = {one.continuation.id: one for one in found}
        statuses: dict[str, Counter[str]] = {}
        with adapter.Study(folder, "core@2") as study:
            study.enqueue(items)
            for one in references:
                study.add_reference(one, *_truth(one))
            for name in ANNOTATORS:
                answers = {id: _answers(name, one) for id, one in played.items()}
                statuses[name] = Counter(study.judge(name, answers.__getitem__))
            decisions = {id: _decisions(one) for id, one in played.items()}
            statuses[REVIEWER] = Counter(study.review(REVIEWER, decisions.__getitem__))
        adapter.sts(folder, "annotations", "verify")  # exits with 1 where it finds anything
        file = folder / "ratings.csv"
        table = adapter.export_ratings(folder, file)
        place = {one.continuation.id: one for one in found}
        rows = sorted(_row(one, place) for one in table.to_dict("records"))
        return (
            {f"{name}, {status}": n for name, own in statuses.items() for status, n in own.items()}
            | {"rows": len(rows), "answers": len({(row[1], row[4]) for row in rows})}
            | _digests((f"{row[0]} {row[1]}", row) for row in rows)
            | self._report(file, folder / "report")
        )

    def _report(self, table: Path, out: Path) -> dict[str, Any]:
        adapter.sts(self._folder / "none", "report", "--table", str(table), "--out", str(out))
        return {"report": rounded(adapter.read_report(out / "report.json"))}

    @cached_property
    def every(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """Every claim by its name; the study's is of the database that the environment names."""
        return {
            "suite-hashes": self.suite_hashes,
            **{f"trajectories-{world}": partial(self.record_world, world) for world in RECORDINGS},
            **{f"continuations-{suite}": partial(self.continuations, suite) for suite in SUITES},
            **{f"labels-{suite}": partial(self.labels, suite) for suite in SUITES},
            "published-episodes": self.published_episodes,
            **{f"scores-{name}": partial(self.scores, name) for name in SCORES},
            "simulated-report": self.simulated_report,
            "study": partial(self.study, self._folder / "study"),
        }


SCORES = {
    "paper": "--size 5x5 --team 4 --steps 30 --episodes 20 --practice-episodes 10 --seed 17",
    "lambdastar-2016": (
        "--size 7x7 --team 3 --steps 25 --episodes 20 --practice-episodes 10 --seed 18 "
        "--patterns lambdastar-2016"
    ),
}
"""What `sts lambda-star score` is asked for."""


def _by_agent(found: Iterable[tuple[str, str, Episode]]) -> dict[str, str]:
    """Return by agent how many episodes there are, and digests of what happened in them."""
    groups: dict[str, list[Episode]] = {}
    for agent, _, episode in sorted(found, key=lambda one: one[:2]):
        groups.setdefault(agent, []).append(episode)
    out = {}
    for agent, own in sorted(groups.items()):
        parts = (
            *((e.state for e in own), (a for e in own for a in (e.actions, e.utterances))),
            *((e.rewards for e in own), (e.scene for e in own)),
        )
        out[agent] = " ".join((str(len(own)), *map(digest, parts)))
    return out


def _choose(found: Sequence[Played]) -> tuple[list[Played], list[Played]]:
    """Return the continuations of 96 clips, and one continuation of each of 4 other clips."""
    by_clip: dict[str, list[Played]] = {}
    for one in sorted(found, key=lambda one: draw("chosen", one.scenario)):
        by_clip.setdefault(one.clip, []).append(one)
    every = [*by_clip.values()]
    references = [own[0] for own in every[CLIPS:] if own[0].agent == "reader"][:REFERENCES]
    return [one for own in every[:CLIPS] for one in own], references


def _truth(one: Played) -> tuple[str, int | None]:
    return ("success", 3) if draw("truth", one.clip) < 0.5 else ("not_done", None)


def _answers(name: str, one: Played) -> list[dict[str, Any]]:
    """Return what a person sends about a clip: a verdict, and of some a correction or words."""
    first = _verdict(name, one.clip, "verdict") | {"kind": "verdict"}
    sent = [first | {"watched": 1, "seconds": round(2 + 20 * draw("seconds", name, one.clip), 1)}]
    if draw("corrects", name, one.clip) < 0.1:
        sent.append(_verdict(name, one.clip, "correction") | {"kind": "correction", "watched": 1})
    if draw("note", name, one.clip) < 0.05:
        sent.append({"kind": "note", "text": "hard to see"})
    return sent


def _decisions(one: Played) -> list[dict[str, Any]]:
    """Return what the reviewer sends about a clip: of some an adjudication."""
    if draw("decides", one.clip) > 0.1:
        return []
    return [_verdict(REVIEWER, one.clip, "decides") | {"kind": "adjudication"}]


def _verdict(name: str, clip: str, part: str) -> dict[str, Any]:
    """Return a verdict that the clip decides mostly, and a person now and then."""
    own = draw(part, name, clip) if draw("errs", part, name, clip) < 0.15 else draw("is", clip)
    if own < 0.03 and part != "decides":
        return {"verdict": "cannot_judge", "step": None, "reason": "too fast"}
    if own < 0.6:
        return {"verdict": "not_done", "step": None}
    step = 1 + int(5 * draw("step", name, clip))
    return {"verdict": "success" if own < 0.85 else "failure", "step": step}


def _row(row: Mapping[Hashable, Any], place: dict[str, Played]) -> list[str]:
    """Return what a row of the ratings table says, with the clip instead of ids."""
    one = place[row["continuation"]]
    assert (one.agent, one.scenario) == (row["agent"], row["scenario"])
    said = ("verdict", "step", "horizon", "kind", "truth", "truth_step", "seconds", "source")
    rest = (*said, "sees", "reason", "adjudicated", "adjudicated_step")
    who = [row["agent"], row["annotator"] or "no annotator", row["scenario"], row["category"]]
    return [*who, one.clip, *(_plain(row[name]) for name in rest)]


def _plain(value: object) -> str:
    """Return a cell of a table as text: 3.0 is 3."""
    text = str(value)
    return text.removesuffix(".0") if text.replace(".", "").isdigit() else text


def _digests(rows: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Return by key how many rows there are, and their digest."""
    groups: dict[str, list[Sequence[str]]] = {}
    for key, row in rows:
        groups.setdefault(key, []).append(row)
    return {
        key: f"{len(own)} {digest(' '.join(row) for row in own)}" for key, own in groups.items()
    }
