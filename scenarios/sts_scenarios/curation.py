"""Decisions about candidates as they are made: by whom, after what, and why."""

from __future__ import annotations

import getpass
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence

from sts.agreement import Agreement, krippendorff
from sts.annotations import decisions, people
from sts.annotations.store import Connection, Store
from sts.annotations.types import Annotator
from sts.errors import ArgumentError
from sts.names import one_line, shown
from sts.storage.workspace import Workspace
from sts.suites.decisions import OPINIONS, REASON, Decision, State, opinion_of
from sts.suites.drafts import Draft, held
from sts_scenarios.freezing import Looked

UNSEEN = "all at once, not looked at"
"""The reason of decisions about all candidates that are undecided."""
_ONLY = {"reject": "candidates that are new", "retire": "scenarios of the parent"}


def author(store: Store, name: str | None) -> Annotator:
    """Return the person called `name`, else by their login; who is new is added as a curator."""
    with store.read() as connection:
        one = find_person(connection, name)
    if one is None:
        with store.write(alone=True) as connection:
            return people.add_invited(connection, _called(name), ("curator",), now=store.now())
    if one.retired or not {"curator", "lead"} & set(one.roles):
        raise ArgumentError(
            f"{one.name} is no curator of this study: sts annotators role {one.name} curator, "
            "or decide --as somebody else"
        )
    return one


def find_person(connection: Connection, name: str | None) -> Annotator | None:
    """Return the person called `name`, else by their login; None where there is none."""
    called = _called(name)
    return next((one for one in people.everybody(connection) if one.name == called), None)


def _called(name: str | None) -> str:
    return (getpass.getuser() if name is None else name).strip()


def checked_reason(text: str) -> str:
    """Return a reason as it is kept."""
    if not one_line(text, REASON):
        raise ArgumentError(
            f"expected a reason of one line, at most {REASON} letters that print, found "
            f"{shown(text)}"
        )
    return text.strip()


def check(one: Looked, kind: str) -> None:
    """Raise ArgumentError where a decision cannot be made on a candidate; says which can."""
    id = one.summary.id
    if kind in _ONLY and one.inherited != (kind == "retire"):
        other = "retire" if one.inherited else "reject"
        raise ArgumentError(f"{kind} is for {_ONLY[kind]}: {other} {id} instead")
    if kind == "accept" and one.inherited and one.status == "kept":
        raise ArgumentError(f"{id} is of the parent and stays unless it is retired")
    if kind == "undo" and not one.state.standing:
        raise ArgumentError(f"there is nothing to undo about {id}")


def decision(one: Looked, kind: str, person: Annotator, *, reason: str, at: float) -> Decision:
    """Return the decision `kind`, one of `sts.suites.decisions.KINDS`; errors as of `check`."""
    check(one, kind)
    detail = {"reason": reason} if reason else {}
    if kind == "undo":
        detail = {"undoes": one.state.standing[-1].uuid}
    return _event(one, kind, person, detail, at)._replace(follows=one.state.last)


def opinion(one: Looked, word: str, person: Annotator, *, at: float) -> Decision:
    """Return a person's opinion whether two people would agree, "yes" or "no".

    "undo" takes back their latest one about the candidate as it is now.
    """
    if word in OPINIONS:
        made = _event(one, "opinion", person, {"opinion": word}, at)
        return made._replace(scenario=one.state.meaning)
    if word != "undo":
        raise ArgumentError(f"expected an opinion of {' or '.join(OPINIONS)}, found {shown(word)}")
    if (latest := opinion_of(one.state, person.id)) is None:
        raise ArgumentError(f"{person.name} has no opinion about {one.summary.id} to take back")
    return _event(one, "undo", person, {"undoes": latest.uuid}, at)._replace(follows=one.state.last)


def decide(store: Store, draft: Draft, made: Sequence[Decision]) -> None:
    """Append decisions about a draft, all or none; nobody freezes it without them.

    Raises:
      Overtaken: somebody has decided about a candidate since; says what.
      StsError: the draft was frozen or replaced since it was read.
    """
    with held(draft), store.write(alone=True) as connection:
        decisions.append(connection, draft.id, made)


def decide_as(
    workspace: Workspace,
    draft: Draft,
    candidates: Sequence[Looked],
    kind: str,
    *,
    name: str | None,
    reason: str = "",
) -> Annotator:
    """Record one decision about each candidate in the name of a curator, who is returned.

    Args:
      workspace: with the study's database.
      draft: must be open.
      candidates: of the draft.
      kind: one of `sts.suites.decisions.KINDS`.
      name: of the curator, who is added if new; None for the login name.
      reason: one line, or "".
    """
    for candidate in candidates:
        check(candidate, kind)
    with Store.open(workspace) as store:
        person = author(store, name)
        made = [
            decision(candidate, kind, person, reason=reason, at=time.time())
            for candidate in candidates
        ]
        decide(store, draft, made)
    return person


def _event(
    one: Looked, kind: str, person: Annotator, detail: Mapping[str, str], at: float
) -> Decision:
    id, uuid = one.summary.id, secrets.token_hex(16)
    return Decision(uuid, id, kind, person.id, "", "", detail, at)


def opinions(state: State, person: Annotator | None) -> dict[str, str]:
    """Return the opinions about a candidate that a person may see, by whose they are.

    They are given blind: nobody sees others' who has not given theirs.
    """
    seen = person is not None and opinion_of(state, person.id) is not None
    return state.opinions if seen else {}


def agreement(every: Iterable[Looked]) -> Agreement:
    """Return how far curators agree on whether two people would, over candidates as they are."""
    import pandas as pd  # long to import

    rows = [
        (one.summary.id, name, word == "yes")
        for one in every
        for name, word in one.state.opinions.items()
    ]
    return krippendorff(pd.DataFrame(rows, columns=["thing", "person", "yes"]), seed=0)
