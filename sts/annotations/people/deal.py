"""The deal: which annotators judge which categories by the instruction alone.

In a dealt category, an annotator sees neither success criteria nor edge cases. A condition is
stored with the first clip of a category that the annotator is assigned, and then stays as it is.
Curators, reviewers and leads see all these texts and are not in the deal.
"""

from collections.abc import Collection, Mapping
from fractions import Fraction
from math import floor

from sqlalchemy import (
    BindParameter,
    Connection,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
)

from sts.annotations.database.schema import (
    annotators,
    categories,
    deals,
    items,
    reference_items,
    roles,
)
from sts.annotations.draws import unit_hash
from sts.annotations.log.changes import DEAL, record_changes
from sts.annotations.study import StudySettings

SEEING_ROLES = ("reviewer", "curator", "lead")
"""Roles whose holders see all success criteria and edge cases."""
_MAX_DENOMINATOR = 1000

# Built once: building a statement takes longer than running it.
_PERSON: BindParameter[int] = bindparam("person")
_IS_SEEING = or_(*(roles.c.role == role for role in SEEING_ROLES))  # in_ is expanded at each use
_SEES_ALL = exists().where(roles.c.annotator == _PERSON, _IS_SEEING)
_STORED = select(deals.c.category).where(deals.c.annotator == _PERSON)
_PLACES = select(categories.c.category, categories.c.place).order_by(categories.c.place)
_JUDGES = exists().where(roles.c.annotator == annotators.c.id, roles.c.role == "annotator")
_IS_DEALT = _JUDGES & ~exists().where(roles.c.annotator == annotators.c.id, _IS_SEEING)
_STANDING = select(
    _SEES_ALL,
    exists().where(annotators.c.id != _PERSON, annotators.c.deactivated.is_(None), _JUDGES),
    select(func.count()).where(annotators.c.id < _PERSON, _IS_DEALT).scalar_subquery(),
)
_IS_STORED = and_(deals.c.category == categories.c.category, deals.c.annotator == _PERSON)
_PLACES_AND_STORED = _PLACES.add_columns(deals.c.rubric_shown).select_from(
    categories.outerjoin(deals, _IS_STORED)
)
_SEEN = (
    select(categories.c.category).where(_SEES_ALL).union(_STORED.where(deals.c.rubric_shown == 1))
)
_WITH_REFERENCES = (
    select(items.c.category).join(reference_items, reference_items.c.item == items.c.id).distinct()
)
_CONDITION = select(
    _SEES_ALL,
    exists().where(
        deals.c.annotator == _PERSON,
        deals.c.category == items.c.category,
        deals.c.rubric_shown == 1,
        items.c.id == bindparam("item"),
    ),
)


def is_rubric_shown(annotator_index: int, category_index: int, dealt_share: float) -> bool:
    """Return False if an annotator is dealt a category to judge by the instruction alone.

    Of equally many annotators and categories in a row, exactly this share is dealt. Few annotators
    are dealt different categories, so that as many as possible have both conditions.

    Args:
      annotator_index: from 0, in the order of joining.
      category_index: from 0, in a random order.
      dealt_share: of the categories, 0 to 0.5.
    """
    exact = Fraction(dealt_share).limit_denominator(_MAX_DENOMINATOR)
    position = annotator_index + category_index
    return floor((position + 1) * exact) == floor(position * exact)


def place_categories(connection: Connection, names: Collection[str], seed: int) -> None:
    """Place new categories after the others, in a random order; "" is a category, too."""
    known = _load_places(connection)
    new = sorted({*names} - known.keys(), key=lambda name: unit_hash(seed, "deal", name))
    rows = [{"category": name, "place": place} for place, name in enumerate(new, len(known))]
    if rows:
        connection.execute(insert(categories), rows)


def load_conditions(
    connection: Connection, annotator_id: int, study: StudySettings
) -> dict[str, bool]:
    """Return True for each category whose texts a person sees, or will see by the present deal.

    No category is dealt while there is only one annotator. Training and references come from
    categories that are seen, so a person sees at least one that has references, if there are any.
    """
    person = {"person": annotator_id}
    sees_all, has_others, number = connection.execute(_STANDING, person).one()
    share = study.instruction_alone if has_others else 0.0
    shown, open_categories = {}, []
    for category, place, stored in connection.execute(_PLACES_AND_STORED, person):
        is_shown = is_rubric_shown(number, place, share) if stored is None else bool(stored)
        shown[category] = sees_all or is_shown
        if stored is None:
            open_categories.append(category)
    if not all(shown.values()):
        tested = {*connection.scalars(_WITH_REFERENCES)}
        if not any(shown.get(category) for category in tested):
            shown |= dict.fromkeys([c for c in open_categories if c in tested][:1], True)
    return shown


def store_conditions(
    connection: Connection, annotator_id: int, conditions: Mapping[str, bool]
) -> None:
    """Store the conditions of a person, whose rows are locked, that are not stored yet."""
    stored = {*connection.scalars(_STORED, {"person": annotator_id})}
    rows = [
        {"annotator": annotator_id, "category": category, "rubric_shown": int(shown)}
        for category, shown in conditions.items()
        if category not in stored
    ]
    if rows:
        connection.execute(insert(deals), rows)
        dealt = [(row["category"], row["rubric_shown"]) for row in rows]
        record_changes(connection, annotator_id, DEAL, dealt)


def list_seen(connection: Connection, annotator_id: int) -> set[str]:
    """Return the categories whose texts may be sent to a person: what is stored, or all."""
    return {*connection.scalars(_SEEN, {"person": annotator_id})}


def sees_rubric(connection: Connection, annotator_id: int, item_id: str) -> bool:
    """Return True if a person sees the texts of a clip."""
    return any(connection.execute(_CONDITION, {"person": annotator_id, "item": item_id}).one())


def record_seen(connection: Connection, annotator_id: int) -> None:
    """Store that a person has seen the texts of all categories, as they lose a role that sees them.

    Judgements keep the condition under which they were made.
    """
    connection.execute(delete(deals).where(deals.c.annotator == annotator_id))
    places = _load_places(connection)
    store_conditions(connection, annotator_id, dict.fromkeys(places, True))


def _load_places(connection: Connection) -> dict[str, int]:
    return {category: place for category, place in connection.execute(_PLACES)}
