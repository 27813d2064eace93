"""Whether annotators judge some agents or categories better than others.

A corrected rate and a difference between agents take people to err alike on all; this is the test
of it, on reference answers, or on what people disagree about where references are too few.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

FEWEST = 3
"""Reference episodes, or clips judged twice, of a group that enters the test."""
_DRAWS, _FEWEST_DRAWS = 1999, 199
_AT_MOST = 4_000_000
"""Episodes that change places, over all permutations; of many there are fewer permutations."""
_AT_ONCE = 500_000
"""Of these, in memory at once."""
_WORDS = {
    "sensitivity": "on answers to references that are successes",
    "specificity": "on answers to references that are none",
    "disagreement": "on clips that two or more judged, as references are too few; where rates "
    "differ people may disagree more often without judging worse",
}


class ByGroup(NamedTuple):
    """A test of whether a share is the same in all groups.

    Attributes:
      measure: "sensitivity", "specificity" or "disagreement".
      by: what the groups are, "agent" or "category".
      shares: the share in each group.
      episodes: how many episodes each group has.
      p: by permutation of the groups among episodes, each with all its answers.
      method: in words.
    """

    measure: str
    by: str
    shares: dict[str, float]
    episodes: dict[str, int]
    p: float
    method: str


def accuracy_by_group(
    references: pd.DataFrame, judged: pd.DataFrame, by: str, *, seed: int
) -> tuple[ByGroup, ...]:
    """Tests sensitivity and specificity by agent or category; disagreement where it must.

    Args:
      references: rows of a checked ratings table that have a truth, each answer once.
      judged: rows of people's judgements of agents, each once a clip.
      by: a column, "agent" or "category".
      seed: of the permutations.
    """
    if references.empty:
        return tuple(filter(None, [_disagreement(judged, by, seed)]))
    told = references[~references["verdict"].isin(("cannot_judge", "")) & (references[by] != "")]
    success, true = told["verdict"] == "success", told["truth"] == "success"
    found = []
    for measure, rows in (("sensitivity", true), ("specificity", ~true)):
        right = (success == true)[rows].astype(np.float64)
        own = told[rows]
        found.append(_test(measure, by, own["continuation"], own[by], right, None, seed=seed))
    kept = tuple(one for one in found if one is not None)
    return kept or tuple(filter(None, [_disagreement(judged, by, seed)]))


def _disagreement(judged: pd.DataFrame, by: str, seed: int) -> ByGroup | None:
    """The test on pairs of judgements of one clip; agents change places within their scenario."""
    if judged["continuation"].is_unique:
        return None
    said = judged[~judged["verdict"].isin(("cannot_judge", "")) & (judged[by] != "")]
    yes = (said["verdict"] == "success").astype(np.float64)
    each = (
        said.assign(yes=yes)
        .groupby("continuation")
        .agg(
            group=(by, "first"),
            scenario=("scenario", "first"),
            n=("yes", "size"),
            yes=("yes", "sum"),
        )
    )
    each = each[each["n"] > 1]
    apart = 2 * each["yes"] * (each["n"] - each["yes"]) / (each["n"] * (each["n"] - 1))
    if by == "category":  # whole scenarios change places, as their clips hang together
        name = each["scenario"].reset_index(drop=True)
        return _test("disagreement", by, name, each["group"], apart, None, seed=seed)
    name = pd.Series(np.arange(len(each)))
    return _test("disagreement", by, name, each["group"], apart, each["scenario"], seed=seed)


def _test(
    measure: str,
    by: str,
    episode: pd.Series,
    group: pd.Series,
    value: pd.Series,
    stratum: pd.Series | None,
    *,
    seed: int,
) -> ByGroup | None:
    """Permutes groups among episodes; None where fewer than two groups have enough of them."""
    frame = pd.DataFrame(
        {"episode": episode.to_numpy(), "group": group.to_numpy(), "value": value.to_numpy()}
    )
    if stratum is not None:
        frame["stratum"] = stratum.to_numpy()
    number = frame.groupby("group")["episode"].nunique()
    large = number.index[number >= FEWEST]
    frame = frame[frame["group"].isin(large)]
    if len(large) < 2:
        return None
    each = frame.groupby("episode").agg(
        group=("group", "first"), total=("value", "sum"), n=("value", "size")
    )
    code, names = pd.factorize(each["group"], sort=True)
    strata = (
        np.zeros(len(each), np.int64)
        if stratum is None
        else pd.factorize(frame.groupby("episode")["stratum"].first())[0]
    )
    total, n = each["total"].to_numpy(), each["n"].to_numpy().astype(np.float64)
    mean = total.sum() / n.sum()

    def spread(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, groups = len(codes), len(names)
        place = (codes + groups * np.arange(rows)[:, None]).ravel()
        size = np.bincount(place, np.tile(n, rows), rows * groups).reshape(rows, groups)
        right = np.bincount(place, np.tile(total, rows), rows * groups).reshape(rows, groups)
        share = right / np.maximum(size, 1e-300)
        return (size * (share - mean) ** 2).sum(axis=1), share

    (observed,), (shares,) = spread(code[None])
    draws = int(np.clip(_AT_MOST // len(code), _FEWEST_DRAWS, _DRAWS))
    as_large = sum(
        int((spread(moved)[0] >= observed * (1 - 1e-9) - 1e-12).sum())
        for moved in _permuted(code, strata, draws, seed=seed)
    )
    return ByGroup(
        measure,
        by,
        {str(name): float(share) for name, share in zip(names, shares, strict=True)},
        {str(name): int(number[name]) for name in names},
        (1 + as_large) / (1 + draws),
        f"{draws} permutations of {by} among episodes, {_WORDS[measure]}",
    )


def _permuted(
    code: np.ndarray, strata: np.ndarray, draws: int, *, seed: int
) -> Iterator[np.ndarray]:
    """Yields all draws, some rows at a time: the codes, permuted within their strata."""
    rng = np.random.default_rng(seed)
    order = np.argsort(strata, kind="stable")
    strata, code = strata[order], code[order]
    batch = max(1, _AT_ONCE // len(code))
    for first in range(0, draws, batch):
        keys = strata + rng.random((min(batch, draws - first), len(code)))
        moved = np.empty(keys.shape, code.dtype)
        moved[:, order] = code[np.argsort(keys, axis=1)]
        yield moved
