"""Markup in every name and text of a table is inert in all files of a report."""

import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import pytest

from sts.cli.main import main
from tests.access.attempts import attempt

KIND = "Markup and formulas"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'-alert(3)-'",
    "</title></style></text></script><svg onload=alert(4)>",
    "{{ 7 * 7 }}{% raw %}${7*7}",
    "javascript:alert(5)",
    "]]><!--<!DOCTYPE x>",
    "&lt;b&gt;&#60;i&#62;",
    "\\input{/etc/passwd}\\write18{x}",
    "$ % # _ ^ ~ { } & \\",
    "=HYPERLINK(1)",
    "@SUM(1)",
    "[x](javascript:alert(6)) | ![y](http://evil.example)",
    "`code` **bold** # head",
)
WORDS = ("agent", "scenario", "category", "annotator", "reason", "notes")


class Tags(HTMLParser):
    """Counts the tags of a page with the names of their attributes, and each address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[tuple[str, ...]] = Counter()
        self.addresses: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[(tag, *sorted(name for name, _ in attrs))] += 1
        self.addresses |= {
            (value or "").strip().lower()
            for name, value in attrs
            if name in ("href", "src", "action", "xlink:href")
        }

    handle_startendtag = handle_starttag


def write_report(folder: Path, words: tuple[str, ...]) -> Path:
    """Return the folder of a report whose every name begins with one of the words."""
    folder.mkdir()
    out = io.StringIO()
    writer = csv.writer(out)
    header = ["agent", "scenario", "category", "continuation", "annotator", "verdict", "step"]
    writer.writerow([*header, "horizon", "reason", "notes"])
    for a, s, c, j in product(range(3), range(len(words)), range(2), range(2)):
        unable = (a + s + c + j) % 3 == 0 and j == 1
        verdict = "success" if (a + s + c + j) % 3 else "cannot_judge" if j else "failure"
        names = f"{words[a]} {a}", f"{words[s]} {s}", f"{words[s % 4 + 5]} {s % 4}"
        row = [*names, str(c), f"{words[j + 3]} {j}", verdict, "" if unable else "3", "9"]
        writer.writerow([*row, words[s] if unable else "", words[s]])
    (folder / "t.csv").write_text(out.getvalue())
    table, out_folder = str(folder / "t.csv"), folder / "out"
    assert main(["report", "--table", table, "--out", str(out_folder), "--paper"]) == 0
    return out_folder


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A report with hostile names, and the same with harmless ones of the same lengths."""
    folder = tmp_path_factory.mktemp("markup")
    harmless = tuple(f"{'n' * (len(one) - 2)}{n:02}" for n, one in enumerate(HOSTILE))
    return write_report(folder / "hostile", HOSTILE), write_report(folder / "harmless", harmless)


@pytest.mark.slow
@attempt(
    KIND,
    "markup, templates, addresses and formulas as every name and text of a table, in the page, "
    "the figures and the paper's parts of a report",
    "the same tags and addresses as with harmless names; no cell is a formula; no LaTeX command",
    times=len(HOSTILE) * len(WORDS),
)
def test_name_is_never_markup_in_a_report(reports) -> None:
    hostile, harmless = reports
    files = sorted(one.relative_to(harmless) for one in harmless.rglob("*") if one.is_file())
    assert files == sorted(o.relative_to(hostile) for o in hostile.rglob("*") if o.is_file())
    assert "alert(1)" in (hostile / "report.html").read_text("utf-8")
    kinds = Counter(one.suffix for one in files)
    assert kinds[".html"] and kinds[".svg"] and kinds[".csv"] and kinds[".tex"]
    for name in files:
        if name.suffix in (".html", ".svg"):
            there, here = (Tags((one / name).read_text("utf-8")) for one in (hostile, harmless))
            own = {tag for tag in there.tags if tag[0] not in ("tspan", "text", "br", "wbr")}
            assert own == {t for t in here.tags if t[0] not in ("tspan", "text", "br", "wbr")}, name
            led = [one for one in there.addresses if not one.startswith(("#", "data:"))]
            assert sorted(led) == sorted(o for o in here.addresses if o[:1] not in "#d"), name
        elif name.suffix == ".csv":
            rows = csv.reader(io.StringIO((hostile / name).read_text("utf-8")))
            cells = [cell for row in rows for cell in row]
            assert not [c for c in cells if re.match(r"[=@+]|-[^\d.]", c)], name
        elif name.suffix == ".tex":
            text = (hostile / name).read_text("utf-8")
            assert not re.search(r"(?<!\\)\\(input|write18)\b", text), name
