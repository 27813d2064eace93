"""The workspace's tags of a suite's scenarios, and its saved selections.

They are stored in `tags/NAME.json` and leave the suites unchanged. A tag is stored by a scenario's
id, which identifies it in every version.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.storage.workspace import Workspace
from sts.suites.folders import encode_json, read_json, validate_name, validate_suite_name
from sts.suites.suite import Suite

FORMAT, FORMAT_VERSION = "tags", 1


class Tags(NamedTuple):
    """The ids of scenarios by tag, and the terms of saved selections by name, for all versions."""

    ids: Mapping[str, tuple[str, ...]]
    selections: Mapping[str, str]


def _file(name: str) -> str:
    return f"tags/{validate_suite_name(name)}.json"


def read(workspace: Workspace, name: str) -> Tags:
    """Return the tags and saved selections of the suite `name`."""
    file = workspace.path(_file(name))
    if not file.exists():
        return Tags({}, {})
    try:
        fields = read_json(file, FORMAT, FORMAT_VERSION)
        tags = {tag: tuple(ids) for tag, ids in fields["tags"].items()}
        selections = dict(fields["selections"])
        texts = [*tags, *(id for ids in tags.values() for id in ids), *selections.values()]
        sound = all(isinstance(text, str) for text in texts) and fields["name"] == name
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedData(f"{file}: not the tags of a suite: {error!r}") from None
    if not sound:
        raise DamagedData(f"{file}: not the tags of the suite {name}")
    return Tags(tags, selections)


def tag(
    workspace: Workspace, suite: Suite, word: str, ids: Iterable[str], *, remove: bool = False
) -> tuple[str, ...]:
    """Tag scenarios of a suite, or remove the tag; return the ids of all that have it afterwards.

    Raises:
      ArgumentError: an invalid tag, or one of the suite's own, which cannot be removed.
      UnknownName: the suite has no such scenario.
    """
    validate_name(word, "tag")
    scenarios = {scenario.id: scenario for scenario in suite.scenarios}
    for id in ids:
        if id not in scenarios:
            raise UnknownName(f"scenario of {suite.label}", id, scenarios, most=10)
        if remove and word in scenarios[id].tags:
            raise ArgumentError(f"{word} is a tag of {suite.label} itself and cannot be removed")

    def changed(before: Tags) -> Tags:
        tagged = {*before.ids.get(word, ())}
        tagged = tagged - {*ids} if remove else tagged | {*ids}
        return before._replace(ids={**before.ids, word: tuple(sorted(tagged))})

    return _change_tags(workspace, suite.name, changed).ids.get(word, ())


def save(workspace: Workspace, suite: str, name: str, terms: str) -> None:
    """Save the terms of a selection of the suite `suite` under a name."""
    validate_name(name, "name")
    _change_tags(
        workspace,
        suite,
        lambda before: before._replace(selections={**before.selections, name: terms}),
    )


def _change_tags(workspace: Workspace, name: str, changed: Callable[[Tags], Tags]) -> Tags:
    """Read, change and write a suite's tags under the workspace's lock."""
    with workspace.create().lock():
        after = changed(read(workspace, name))
        fields = {
            "name": name,
            "tags": {word: list(ids) for word, ids in sorted(after.ids.items()) if ids},
            "selections": dict(sorted(after.selections.items())),
        }
        workspace.store.replace(_file(name), encode_json(FORMAT, FORMAT_VERSION, fields))
    return after
