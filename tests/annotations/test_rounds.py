"""The queue in rounds: its order, what waits in it, and the cells of an export."""

import json
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from sts.annotations.answers.progress import load_progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.export import export_ratings
from sts.annotations.queue import claims, controls, leaving
from sts.annotations.queue.rounds import PLACES_PER_ROUND, RoundOrder
from sts.annotations.races import Look
from sts.annotations.records import Item
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.tabulation import tabulate
from tests.annotations.examples import SUITE, a_submission, add_people, an_item, claim, judge
from tests.stores import add_person, ask, change, enqueue, submit

CATEGORIES = {f"s{n:02}": ("ask", "get", "see")[n % 3] for n in range(24)}
ORDER = RoundOrder(CATEGORIES, seed=0)


def of_agent(agent: str, index: int, **changes: object) -> list[Item]:
    """Return an agent's continuation of this index in each scenario."""
    return [
        an_item(
            f"{agent}-{s}-{index}", agent=agent, scenario=s, category=category,
            **{"place": ORDER.find_place(agent, index, s)} | changes,
        )
        for s, category in CATEGORIES.items()
    ]  # fmt: skip


def cells_of(store: AnnotationStore, workspace) -> dict[str, tuple[int, int]]:
    """Return round and number of the cell of each continuation."""
    table = export_ratings(workspace, SUITE).table.drop_duplicates("continuation")
    rows = table[["continuation", "round", "cell"]].itertuples(index=False)
    return {name: (round, cell) for name, round, cell in rows}


def test_beginning_of_a_round_has_an_even_share_of_agents_and_categories() -> None:
    categories = {f"s{n:03}": f"c{n % 7}" for n in range(7 * 40)}
    order = RoundOrder(categories, seed=3)
    cells = [(order.find_place(a, 0, s), a, categories[s]) for a in "ABC" for s in categories]
    quarter = sorted(cells)[: len(cells) // 4]
    counts = Counter((agent, category) for _, agent, category in quarter)
    assert len(counts) == 21 and {*counts.values()} <= {9, 10, 11}


def test_order_follows_from_the_seed_and_each_agent_and_round_has_its_own() -> None:
    def scenarios(agent: str, index: int, seed: int = 0) -> list[str]:
        order = RoundOrder(CATEGORIES, seed)
        return sorted(CATEGORIES, key=lambda s: order.find_place(agent, index, s))

    orders = [scenarios("A", 0), scenarios("B", 0), scenarios("A", 1), scenarios("A", 0, 1)]
    assert len({*map(tuple, orders)}) == 4 and scenarios("A", 0) == orders[0]
    # As printed: a change would move what counts in a study that is under way.
    assert [ORDER.find_place("A", 2, s) for s in ("s00", "s23")] == [4676692832, 5212096545]
    for index in (0, 9):
        places = {ORDER.find_place("A", index, s) // PLACES_PER_ROUND for s in CATEGORIES}
        assert places == {index}


def test_scenarios_come_in_every_order_alike() -> None:
    first = Counter[str]()
    for seed in range(300):
        order = RoundOrder(dict.fromkeys("abcdef", "one"), seed)
        first[min("abcdef", key=lambda s: order.find_place("A", 0, s))] += 1
    assert len(first) == 6 and max(first.values()) < 80  # 50 on average, 6.5 standard deviation


def test_people_judge_round_by_round_and_a_clip_with_its_first_copy(open_store, workspace) -> None:
    store = open_store(reference_rate=0, overlap=0, min_gap=0)
    alike = {s: f"alike {s}" for s in [*CATEGORIES][:8]}
    every = [
        replace(item, clip=alike.get(item.scenario, item.clip))
        for index in range(3)
        for agent in "AB"
        for item in of_agent(agent, index)
    ]
    enqueue(store, every)
    people = add_people(store, "Ana", "Bo")
    met = [one for turn in range(60) for one in judge(store, people[turn % 2], 2)]
    places = {item.continuation: item.place for item in every}
    clips = {item.continuation: item.clip for item in every}
    first = {
        clip: min(places[c] for c, of in clips.items() if of == clip) for clip in clips.values()
    }
    in_order = sorted(first.values())
    ahead = [in_order.index(first[clips[one]]) - n for n, one in enumerate(met)]
    assert len(met) == len(first) == 6 * 16 + 8 and max(ahead) < 24
    assert min(ahead) > -12  # no cell waits while many behind it are judged


def test_export_numbers_the_cells_and_says_their_rounds(open_store, workspace) -> None:
    store = open_store(reference_rate=0)
    items = of_agent("A", 0) + of_agent("B", 1)
    enqueue(store, items)
    found = cells_of(store, workspace)
    in_order = [item.continuation for item in sorted(items, key=lambda item: item.place)]
    assert [*sorted(found, key=lambda name: found[name][1])] == in_order
    assert {name[0]: round for name, (round, _) in found.items()} == {"A": 1, "B": 2}
    assert sorted(cell for _, cell in found.values()) == [*range(1, 49)]
    assert export_ratings(workspace).table["cell"].isna().all()  # all suites have no one order


def test_command_shows_rounds_and_hours_that_are_left(open_store, workspace, sts) -> None:
    store = open_store(reference_rate=0, overlap=0, min_gap=0)
    enqueue(store, of_agent("A", 0) + of_agent("A", 1))
    (ana,) = add_people(store, "Ana")
    judge(store, ana, 36, seconds=150)
    state = json.loads(sts(workspace, f"annotations rounds {SUITE} --json"))
    first, second = state["rounds"]
    assert first == {
        "round": 1, "continuations": 24, "reached": 24, "clips": 24, "judged": 24, "hours": 1.0,
        "hours_left": 0.0, "skipped": 0,
    }  # fmt: skip
    assert (state["agents_in"], state["pairs"], state["resolved"]) == (["A"], 0, 0)
    assert second["judged"] == second["reached"] == 12 and second["hours_left"] == 0.5
    said = sts(workspace, f"annotations rounds {SUITE}")
    assert "round 2 of 2: rates rest on 36 of 48 continuations" in said


def test_priorities_and_pauses_order_the_cells_as_they_order_the_queue(open_store, workspace):
    store = open_store(priority={f"{SUITE}/see": 1, f"{SUITE}/get": -1}, reference_rate=0)
    enqueue(store, of_agent("A", 0) + of_agent("A", 1))
    found = cells_of(store, workspace)

    def mean(category: str) -> float:
        own = {s for s, name in CATEGORIES.items() if name == category}
        return float(np.mean([cell for name, (_, cell) in found.items() if name[2:5] in own]))

    assert (mean("see"), mean("ask"), mean("get")) == (8.5, 24.5, 40.5)
    change(store, controls.set_pause, f"{SUITE}/see")
    found = cells_of(store, workspace)
    assert (mean("ask"), mean("get"), mean("see")) == (8.5, 24.5, 40.5)


def test_cell_of_an_expired_lease_is_given_out_again_first(open_store, clock) -> None:
    store = open_store(reference_rate=0, overlap=0, anchors=0, min_gap=0)
    enqueue(store, of_agent("A", 0))
    ana, bo = add_people(store, "Ana", "Bo")
    (held,) = claim(store, ana, 1)
    assert held.continuation not in judge(store, bo, 6)
    enqueue(store, of_agent("B", 0))  # by balance, Bo would be given a clip of B
    clock.pass_lease()
    assert judge(store, bo, 1) == [held.continuation]


def test_agent_that_left_is_not_assigned_however_its_clips_come(open_store) -> None:
    store = open_store(reference_rate=0, overlap=0, anchors=0, min_gap=0)
    shared = [replace(item, clip=f"b{n}") for n, item in enumerate(of_agent("B", 2))]
    enqueue(
        store, of_agent("A", 0) + [replace(i, clip=f"b{n}") for n, i in enumerate(of_agent("A", 1))]
    )
    enqueue(store, shared)
    look = Look(1, 0.0, 0.25, "rank", 0, ("A", "B"), (), ("A",), False)
    assert change(store, leaving.record_look, SUITE, look)
    enqueue(store, of_agent("A", 3))
    (ana,) = add_people(store, "Ana")
    assert len(judge(store, ana, 60)) == 24  # those that A shares with B
    counts = ask(store, load_progress, SUITE)
    assert (counts.remaining, counts.skipped, counts.complete) == (0, 48, 24)
    assert ask(store, claims.has_finished, ana, SUITE)
    lead = add_person(store, "Lena", ("lead",))
    change(store, leaving.keep_agent, SUITE, "A", lead, "it is new")
    assert ask(store, load_progress, SUITE).remaining == 48 == len(judge(store, ana, 60))


def test_new_copy_of_an_early_round_moves_its_clip_forward(open_store) -> None:
    store = open_store(reference_rate=0, overlap=0, min_gap=0)
    late = [replace(item, clip="same") for item in of_agent("A", 5)[:1]]
    early = [replace(item, clip="same") for item in of_agent("B", 0)[:1]]
    enqueue(store, of_agent("A", 3) + late)
    enqueue(store, early)
    (ana,) = add_people(store, "Ana")
    assert late[0].continuation in judge(store, ana, 2)


def read_rates(table: pd.DataFrame, *, rounds: bool) -> np.ndarray:
    """Return the rates of agents in a ratings table as exported, or without its rounds."""
    left = () if rounds else ("round", "cell", "clip")
    checked = check_ratings(from_frame("table", table.drop(columns=[*left])))
    none = pd.DataFrame(columns=["scenario", "category", "kind"])
    return RateModel(tabulate(checked, "human", scenarios=none)).estimate_rates().rate


@pytest.mark.landing
def test_rates_of_a_queue_that_is_judged_in_part_are_those_of_all(open_store, workspace) -> None:
    """The failures of one agent look alike, and the successes of the other."""
    gaps = []
    for seed in range(8):
        rng, suite = np.random.default_rng(seed), f"study@{seed + 1}"
        order, success, every = RoundOrder(CATEGORIES, seed), {}, []
        for index, agent, scenario in product(range(6), "AB", CATEGORIES):
            name = f"{seed}-{agent}-{scenario}-{index}"
            success[name] = rng.random() < 0.5
            alike = success[name] == (agent == "B")
            clip = f"{seed} {agent} {scenario}" if alike else name
            more = {"place": order.find_place(agent, index, scenario), "suite": suite}
            (item,) = [one for one in of_agent(agent, index, **more) if one.scenario == scenario]
            every.append(replace(item, continuation=name, clip=clip))
        store = open_store(reference_rate=0, overlap=0, seed=seed)
        enqueue(store, every)
        people = add_people(store, f"Ana {seed}", f"Bo {seed}")
        clips = len({item.clip for item in every})
        for person in people * 2:
            for held in claim(store, person, clips // 10, suite):
                verdict = "success" if success[held.continuation] else "failure"
                submit(store, person, [a_submission(held, verdict=verdict)])
        truth = np.array(
            [np.mean([success[i.continuation] for i in every if i.agent == a]) for a in "AB"]
        )
        table = export_ratings(workspace, suite).table
        gaps.append([read_rates(table, rounds=rounds) - truth for rounds in (True, False)])
    reached, known = np.mean(gaps, axis=0)
    assert reached == pytest.approx([0, 0], abs=0.06)
    assert known[0] < -0.06 and known[1] > 0.06  # what looks like a judged one is known early


def test_agent_that_joins_later_begins_with_round_one(open_store) -> None:
    store = open_store(reference_rate=0, overlap=0, anchors=0, min_gap=0)
    enqueue(store, of_agent("A", 0) + of_agent("A", 1))
    (ana,) = add_people(store, "Ana")
    judge(store, ana, 30)
    enqueue(store, of_agent("B", 0))
    assert Counter(one[0] for one in judge(store, ana, 20))["B"] >= 18
