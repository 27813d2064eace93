"""Places of clips in the order of judging, which change when agents leave a race."""

from collections.abc import Collection

from sqlalchemy import Connection, exists, func, select, update

from sts.annotations.database.schema import anchors, copies, item_suites, slots
from sts.annotations.study import base_suite

NO_PLACE = 2**62
"""The place of a clip that is not judged any more, as all its agents have left the race."""
IS_WANTED = slots.c.place < NO_PLACE


def place_clips(
    connection: Connection, suite: str, out: Collection[str], changed: Collection[str]
) -> None:
    """Move the clips of agents that left a suite's race, or came back, to their new places.

    A clip's place is that of its first continuation by an agent that is not `out`. Clips that
    another suite needs too, and anchors, stay where they are. Someone who has claimed a clip may
    still judge it. The connection must be the only writer.
    """
    if not changed:
        return
    labels = connection.scalars(select(item_suites.c.suite).distinct()).all()
    own = [label for label in labels if base_suite(label) == base_suite(suite)]
    linked = item_suites.c.item == slots.c.item  # each label is looked up in the key
    of_slot = copies.c.item == slots.c.item
    first = select(func.min(copies.c.place)).where(of_slot, copies.c.agent.not_in([*out]))
    anchor = (anchors.c.item == slots.c.item) & (anchors.c.slot == slots.c.slot)
    connection.execute(
        update(slots)
        .where(  # judged ones, too: an exclusion opens them again
            exists().where(of_slot, copies.c.agent.in_([*changed])),
            exists().where(linked, item_suites.c.suite.in_(own)),
            ~exists().where(linked, item_suites.c.suite.in_({*labels}.difference(own))),
            ~exists().where(anchor),
        )
        .values(place=func.coalesce(first.scalar_subquery(), NO_PLACE))
    )
