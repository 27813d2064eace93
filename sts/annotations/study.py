"""Settings of a study's annotation: the table `annotation` of `workspace.toml`, validated."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sts.errors import DamagedData
from sts.storage.workspace import Workspace

SECTION = "annotation"
AUTO_RESOLVE_VALUES = ("", "silence")
"""Values of the setting `auto_resolve`."""
MAX_ANNOTATIONS_PER_CLIP = 1000
"""Maximum number of judgements of one clip."""
MAX_INSTRUCTION_ALONE = 0.5
"""Maximum of the setting `instruction_alone`."""
GOALS = ("rank", "best", "all")
"""Values of the setting `goal`."""
_SHARES = (
    *("overlap", "anchors", "reference_rate", "min_accuracy", "min_watched", "training_pass"),
)
_COUNTS = (
    *("queue", "min_gap", "daily_limit", "clips_per_person", "training", "marker_tolerance"),
    "review_sample",
)
_COMPLETION = re.compile(r"(https://[!-~]{1,500}|[0-9A-Za-z_-]{1,64})?")


class StudySettings(NamedTuple):
    """Settings for judging continuations, with the defaults of `workspace.toml`.

    A scope is a suite, `NAME@VERSION`, or one of its categories, `NAME@VERSION/CATEGORY`.
    """

    seed: int = 0  # selects all random orders and choices; equal seeds give equal ones
    # what people judge for: to "rank" all agents, to find the "best", or "all" that is queued
    goal: str = "rank"
    confirm_rounds: bool = False  # a look takes effect only when a lead confirms it
    prediction_powered: bool = False  # looks also use a rule's labels of what is not judged yet
    annotations_per_clip: int = 1  # judgements of each clip, 1 or more
    # the same by scope; the highest that applies counts
    annotations_per_clip_by: Mapping[str, int] = {}
    # share of annotators x categories judged by the instruction alone, 0 to 0.5; see `deal`
    instruction_alone: float = 0.2
    overlap: float = 0.1  # share of clips that are judged at least twice, 0 to 1
    anchors: float = 0.1  # share of judged clips judged again when an agent is added, 0 to 1
    min_gap: int = 10  # minimum number of items between two of one scenario, if others are left
    daily_limit: int = 0  # daily limit of judgements per person (UTC), 0 for no limit
    priority: Mapping[str, int] = {}  # by scope, 0 by default; the highest is assigned first
    reference_rate: float = 0.1  # share of references among the assigned items, 0 to 1
    min_accuracy: float = 0.8  # share of references to be judged correctly, 0 to 1
    pause_low_accuracy: bool = False  # pause annotators below it until the lead resumes them
    min_watched: float = 0.25  # median share of their latest clips that people should watch, 0 to 1
    training: int = 0  # number of references that new annotators answer first; 0 for none
    training_pass: float = 0.8  # share of them whose verdict must agree, 0 to 1
    queue: int = 100_000  # maximum number of continuations that are queued at a time
    # "silence" auto-resolves, as not done, a question's continuation in which the evaluated player
    # says nothing after the takeover; "" has annotators judge it
    auto_resolve: str = ""
    consent: str = ""  # file of the workspace with the text that people agree to first; "" for none
    marker_tolerance: int = 5  # steps by which markers of one clip may differ and still agree
    clips_per_person: int = 0  # maximum number of clips of each person, 0 for no limit
    # completion code, or the https address of a return link, for people who have finished
    completion: str = ""
    review_sample: int = 100  # number of failures of people, and of agents, to be reviewed

    def annotations_for(self, suite: str, category: str) -> int:
        """Return the number of judgements of a clip of that suite, or part of it, and category."""
        return max(
            self.annotations_per_clip,
            *(self.annotations_per_clip_by.get(s, 0) for s in iter_scopes(suite, category)),
        )


DEFAULT_STUDY = StudySettings()


def base_suite(suite: str) -> str:
    """Return the suite that a part of a suite belongs to; a whole suite is returned unchanged."""
    return suite.partition("+")[0]


def iter_scopes(suite: str, category: str) -> Iterator[str]:
    """Yield the scopes that contain a clip."""
    for name in dict.fromkeys((suite, base_suite(suite))):
        yield name
        yield f"{name}/{category}"


def load_study(workspace: Workspace) -> StudySettings:
    """Load the study's settings; raise DamagedData if one is unknown or invalid."""
    defaults = DEFAULT_STUDY._asdict()
    table = workspace.settings.get(SECTION, {})
    unknown = sorted(table.keys() - defaults.keys()) if isinstance(table, dict) else []
    if unknown:
        raise DamagedData(
            f"{workspace.path('workspace.toml')}: unknown setting {SECTION}.{unknown[0]}; valid "
            f"settings are {', '.join(sorted(defaults))}"
        )
    values = {name: workspace.setting(SECTION, name, usual) for name, usual in defaults.items()}
    for name, expected, value in _iter_invalid(StudySettings(**values)):
        raise DamagedData(
            f"{workspace.path('workspace.toml')}: expected {SECTION}.{name} {expected}, found "
            f"{value!r}"
        )
    return StudySettings(**values)


def _iter_invalid(settings: StudySettings) -> Iterator[tuple[str, str, object]]:
    """Yield the name, the expectation and the value of every invalid setting."""
    values = settings._asdict()
    for name in _SHARES:
        if not 0 <= values[name] <= 1:
            yield name, "between 0 and 1", values[name]
    if not 0 <= settings.instruction_alone <= MAX_INSTRUCTION_ALONE:
        expected = f"between 0 and {MAX_INSTRUCTION_ALONE}"
        yield "instruction_alone", expected, settings.instruction_alone
    for name in _COUNTS:
        if values[name] < 0:
            yield name, "of 0 or more", values[name]
    numbers = {"annotations_per_clip": settings.annotations_per_clip}
    numbers |= {
        f'annotations_per_clip_by."{scope}"': number
        for scope, number in settings.annotations_per_clip_by.items()
    }
    for name, value in numbers.items():
        if type(value) is not int or not 1 <= value <= MAX_ANNOTATIONS_PER_CLIP:
            yield name, f"of 1 to {MAX_ANNOTATIONS_PER_CLIP}", value
    if settings.goal not in GOALS:
        yield "goal", f"to be one of {', '.join(map(repr, GOALS))}", settings.goal
    if settings.auto_resolve not in AUTO_RESOLVE_VALUES:
        known = ", ".join(map(repr, AUTO_RESOLVE_VALUES))
        yield "auto_resolve", f"to be one of {known}", settings.auto_resolve
    if not _COMPLETION.fullmatch(settings.completion):
        expected = "to be a code of letters and digits, or an address that starts with https://"
        yield "completion", expected, settings.completion
    for scope, value in settings.priority.items():
        if type(value) is not int:
            yield f'priority."{scope}"', "to be a whole number", value
    for table in ("annotations_per_clip_by", "priority"):
        for scope in values[table]:
            if "@" not in scope.partition("/")[0]:
                yield table, "by NAME@VERSION or NAME@VERSION/CATEGORY", scope
