"""What a report was made from, and with."""

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from sts_analysis.inputs.mapping import AS_WRITTEN, ColumnMapping
from sts_analysis.inputs.reading import Reading, describe_reading
from sts_analysis.inputs.subject import Part
from sts_analysis.inputs.tables import InputFile
from sts_analysis.report.core import Report, Study, html, join
from sts_analysis.report.markup import fold, render_table
from sts_analysis.report.text import pluralise

TITLE = "Provenance"
NAV = "Provenance"
_SETTINGS = ("commit", "dirty")
"""Keys of the provenance that are no version."""


class Link(msgspec.Struct, frozen=True):
    """The end of a chain.

    Attributes:
      number: of entries.
      digest: of the last, which covers those before it.
    """

    number: int
    digest: str


class Digests(msgspec.Struct, frozen=True):
    """Digests of a workspace, which `sts workspace check --sources-of` compares.

    Attributes:
      suite: NAME@VERSION.
      suite_hash: of its content.
      continuations: those of the suite's scenarios, in any order.
      authors: the last event of each, by pseudonym.
      references: the last reference episode.
      changes: the last exclusion, pause, role or deal of each, by pseudonym; "" for the study.
      labels: of the table of automatic labels.
      scores: of the tables of scores.
    """

    suite: str | None
    suite_hash: str | None
    continuations: Link
    authors: dict[str, Link]
    references: Link
    labels: str | None
    scores: str | None
    changes: dict[str, Link] = {}


class Result(msgspec.Struct, frozen=True):
    """Everything needed to make the report again.

    Attributes:
      suite: NAME@VERSION, or the name of a table.
      suite_hash: of the frozen suite; null for a table.
      annotations_hash: of people's verdicts; null without any, and for a table.
      selection: the part of the suite that the report is about; null for all of it.
      digests: what a workspace held; null for a table.
      inputs: tables that were read; empty for a suite.
      columns: names in a foreign table, by our name of the column.
      verdict_words: what words of a foreign table mean; empty for our own words.
      notes: what the sources of the scenarios ask every report to say.
      target: "sampled" or "fixed" scenarios that intervals are about.
      seed: of random permutations.
      arguments: of `sts report`, which make the report again.
      people_are_units: whether everything that the same people recorded is one unit.
      versions: of Python and packages.
      commit: of the checkout; null for an installed package.
      dirty: whether the checkout had uncommitted changes.
      reading: what was understood of a table; null for a suite.
    """

    suite: str
    suite_hash: str | None
    annotations_hash: str | None
    selection: Part | None
    digests: Digests | None
    inputs: tuple[InputFile, ...]
    columns: dict[str, str]
    verdict_words: dict[str, str]
    notes: tuple[str, ...]
    target: str
    seed: int
    arguments: tuple[str, ...]
    people_are_units: bool
    versions: dict[str, str]
    commit: str | None
    dirty: bool | None
    reading: Reading | None = None


def compute(study: Study) -> Result:
    """List what the report was made from."""
    subject, options, made_with = study.subject, study.options, study.provenance
    mapping = study.gathered.mapping
    return Result(
        suite=subject.name,
        suite_hash=subject.hash,
        annotations_hash=subject.annotations_hash,
        selection=subject.subset,
        digests=_convert_digests(study),
        inputs=study.gathered.inputs,
        columns=dict(mapping.columns),
        verdict_words=_list_words(mapping),
        notes=subject.notes,
        target=options.target,
        seed=options.seed,
        arguments=_list_arguments(study),
        people_are_units=options.people_are_units,
        versions={name: str(v) for name, v in made_with.items() if name not in _SETTINGS},
        commit=made_with.get("commit"),
        dirty=made_with.get("dirty"),
        reading=study.gathered.reading,
    )


def render(result: Result, report: Report) -> Markup:
    """Show names, hashes and versions."""
    rows = [(name, html("<code>{}</code>", value)) for name, value in _list_values(result)]
    notes = join(html("<p>{}.</p>", note[:1].upper() + note[1:]) for note in result.notes)
    authors = ""
    if result.digests is not None and result.digests.authors:
        ends = result.digests.authors.items()
        authors = fold(
            f"Last event of {pluralise(len(ends), 'author')}",
            render_table(
                ["Author", "Digest", "Events"],
                ([name, html("<code>{}</code>", e.digest), f"{e.number:,}"] for name, e in ends),
                texts=("Digest",),
            ),
        )
    files = ""
    if result.inputs:
        files = render_table(
            ["Input file", "SHA-256", "Rows"],
            ([f.name, html("<code>{}</code>", f.sha256), f"{f.rows:,}"] for f in result.inputs),
            texts=("SHA-256",),
        )
    settings = render_table(["Setting", "Value"], rows, texts=("Value",))
    return join([notes, files, settings, authors])


def _list_words(mapping: ColumnMapping) -> dict[str, str]:
    """Return the words and numbers that a user has given a meaning."""
    words = {} if mapping.meanings == AS_WRITTEN.meanings else mapping.meanings
    return {**words, **mapping.ranges}


def _list_arguments(study: Study) -> tuple[str, ...]:
    options, mapping, other = study.options, study.gathered.mapping, study.gathered.compared
    words = [study.subject.name] if study.subject.hash else ["--table", study.subject.name]
    words += [f"--column={name}={theirs}" for name, theirs in mapping.columns.items()]
    words += [f"--format={mapping.format}"] if mapping.format else []
    for word, meaning in _list_words(mapping).items():
        words.append(f"--{meaning.replace('_', '-')}={word}")
    if mapping.annotator_columns:
        words.append(f"--annotator-columns={','.join(mapping.annotator_columns)}")
    words += [f"--model-annotator={name}" for name in mapping.model_annotators]
    words += [f"--leave-out={column}={value}" for column, value in mapping.left_out]
    words += [f"--unused={column}" for column in mapping.unused]
    words += ["--keep-equal-rows"] if mapping.keeps_equal_rows else []
    spellings = study.gathered.spellings
    words += [f"--same={name}={spelling}" for spelling, name in spellings.same.items()]
    words += [f"--distinct={'|'.join(sorted(names))}" for names in spellings.distinct]
    words += [f"--planned={options.planned}"] if options.planned else []
    words += [f"--scores={file.name}" for file in study.gathered.inputs[1:]]
    words += ["--target", options.target, "--seed", str(options.seed)]
    words += ["--unit", "people"] if options.people_are_units else []
    words += [f"--closed={options.closed}"] if options.closed else []
    for a, b in options.contrasts:
        words += ["--contrast", a, b]
    words += [] if other is None else ["--compare-to", other.subject.name]
    words += ["--prediction-powered"] if options.prediction_powered else []
    if options.guessing_baseline:
        words.append(f"--guessing-baseline={options.guessing_baseline}")
    if options.margin is not None:
        words.append(f"--non-inferiority-margin={100 * options.margin:g}")
        words += [f"--reference-agent={options.reference_agent}"] if options.reference_agent else []
    return tuple(words)


def _convert_digests(study: Study) -> Digests | None:
    digests = study.subject.digests
    if digests is None:
        return None
    return Digests(
        suite=digests.suite,
        suite_hash=digests.suite_hash,
        continuations=Link(*digests.continuations),
        authors={name: Link(*link) for name, link in digests.authors.items()},
        references=Link(*digests.references),
        labels=digests.labels,
        scores=digests.scores,
        changes={name: Link(*link) for name, link in digests.changes.items()},
    )


def _list_values(result: Result) -> Iterator[tuple[str, object]]:
    yield "suite", result.suite
    if result.selection is not None:
        part = result.selection
        yield "selection", f"{part.filter}: {part.scenarios} of {part.suite_scenarios} scenarios"
    values = {
        "suite hash": result.suite_hash,
        "annotations hash": result.annotations_hash,
        "labels": result.digests and result.digests.labels,
        "scores": result.digests and result.digests.scores,
    }
    yield from ((name, value) for name, value in values.items() if value)
    if result.digests is not None:
        continuations = result.digests.continuations
        yield "continuations", f"{continuations.number:,}, {continuations.digest}"
    if result.reading is not None:
        yield from describe_reading(result.reading).items()
    yield "target", f"{result.target} scenarios"
    if result.people_are_units:
        yield "units", "people who recorded"
    yield "seed", result.seed
    if result.commit:
        yield "commit", result.commit + (" with changes" if result.dirty else "")
    yield from result.versions.items()
