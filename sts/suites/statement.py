"""The curator's words in a statement of standards: `statement.toml`, outside a suite's hash."""

import tomllib
from pathlib import Path

from sts.errors import DamagedData
from sts.names import quote, replace_unprintable
from sts.storage.files import read_bytes

FILE = "statement.toml"
QUESTIONS = {
    "reproduction": "Who else has measured agents on this suite, and did the results agree?",
    "assumptions": "What does the suite assume about agents, scenarios and annotators?",
    "abilities": "Which abilities does a high pass rate show, and which does it not show?",
    "innate_knowledge": "What is needed of objects, agents with goals, numbers and space?",
    "learned_knowledge": "What is needed of language, symbols, facts and practice?",
    "other_advantages": "What helps some agents for reasons unrelated to these abilities?",
    "publication": "Which scenarios or worlds were public before the agents were made?",
}
"""Questions that only the curator can answer, by key of the file."""


def read_words(folder: Path) -> dict[str, str]:
    """Return the answers in a suite's folder by key, each as one line.

    Raises:
      DamagedData: the file is not TOML, or has another key or a value that is not a text.
    """
    file, words = folder / FILE, dict[str, str]()
    try:
        fields = tomllib.loads(read_bytes(file, 2**20).decode()) if file.exists() else {}
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"{file}: not TOML: {error}") from None
    for key, text in fields.items():
        if key not in QUESTIONS or not isinstance(text, str):
            expected = f"expected texts called {', '.join(QUESTIONS)}"
            raise DamagedData(f"{file}: {expected}, found {quote(f'{key} = {text!r}')}")
        words[key] = " ".join(replace_unprintable(text).split())
    return words
