"""The curator's words in a suite's statement of standards."""

import pytest

from sts.errors import DamagedData
from sts.suites import suite_store as store
from sts.suites.statement import FILE, QUESTIONS, read_words
from sts.suites.suite_checks import check_suites
from tests.examples import scenarios


@pytest.fixture
def folder(workspace):
    store.freeze_scenarios(workspace, "mine", scenarios(2))
    return workspace.path("suites", "mine", "1")


def test_answers_are_single_printable_lines(folder):
    assert read_words(folder) == {}
    (folder / FILE).write_text('assumptions = """\nOne \\u001b[31m\n  two.\n"""\nabilities = " "\n')
    assert read_words(folder) == {"assumptions": "One [31m two.", "abilities": ""}


def test_words_leave_a_frozen_suite_as_it_was(folder, workspace):
    before = store.load(workspace, "mine@1").hash
    (folder / FILE).write_text("".join(f'{key} = "yes"\n' for key in QUESTIONS))
    assert store.load(workspace, "mine@1").hash == before
    assert not check_suites(workspace).findings


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("assumptions", "not TOML"),
        ('assumption = "none"', 'expected texts called reproduction, .*, found "assumption = '),
        ("assumptions = 3", "found 'assumptions = 3'"),
        ("assumptions = [[[[[", "not TOML"),
        ('[assumptions]\nabilities = "x"', 'found "assumptions = '),
    ],
)
def test_invalid_words_are_named_by_file_and_key(folder, workspace, text, told):
    (folder / FILE).write_text(text)
    with pytest.raises(DamagedData, match=f"{FILE}: .*{told}"):
        read_words(folder)
    (finding,) = check_suites(workspace).findings
    assert FILE in finding
