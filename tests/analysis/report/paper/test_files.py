"""The folder paper/: complete, one with its report, and gone with it."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sts.cli.main import main
from sts_analysis.report.paper import files as folder
from sts_analysis.report.paper.figures import FIGURES
from sts_analysis.report.schema import Report
from sts_analysis.report.write import write
from tests.analysis.report.paper.tables import made as report_of
from tests.analysis.worlds import ratings_table


@pytest.fixture(scope="module")
def report() -> Report:
    """Two agents and two categories, as each panel is drawn twelve times."""
    return report_of(
        skills={"best": 1.5, "poor": -1.0}, categories=["lift", "go"], references=8, baselines=()
    )


@pytest.fixture(scope="module")
def made(report: Report) -> dict[str, bytes]:
    return folder.files(report, title="Our agents")


def test_it_holds_each_figure_in_two_widths_and_three_formats(made: dict[str, bytes]) -> None:
    for name in FIGURES:
        for called in ("one_column", "two_columns"):
            assert made[f"paper/{name}_{called}.pdf"].startswith(b"%PDF")
            assert made[f"paper/{name}_{called}.png"].startswith(b"\x89PNG")
            root = ElementTree.fromstring(made[f"paper/{name}_{called}.svg"])
            assert "Our agents" in [text.text for text in root.iter()]
    assert set(made) <= folder.NAMES


def test_what_its_latex_names_is_there(made: dict[str, bytes]) -> None:
    text = made["paper/figures.tex"].decode()
    named = re.findall(r"\\includegraphics\[[^]]*\]\{(\w+)\}", text)
    assert len(named) == len(FIGURES) and all(f"paper/{name}.pdf" in made for name in named)
    cited = set(re.findall(r"\\cite\{([^}]*)\}", made["paper/methods.tex"].decode()))
    bib = made["paper/references.bib"].decode()
    assert cited and all(f"{{{key}," in bib for keys in cited for key in keys.split(","))


def test_what_is_left_out_is_said_with_its_reason(tmp_path: Path) -> None:
    thin = folder.files(report_of(judged=0, references=0))
    assert not [name for name in thin if "figure_3_" in name]
    assert "**figure_3** is left out: nothing is judged." in thin["paper/captions.md"].decode()


@pytest.mark.usefixtures("one_figure")
def test_a_report_made_without_it_takes_it_away_and_leaves_what_is_the_users(
    tmp_path: Path, report: Report, made: dict[str, bytes]
) -> None:
    write(tmp_path / "r", report, paper=made)
    (tmp_path / "r" / "paper" / "main.tex").write_text("mine")
    assert (tmp_path / "r" / "paper" / "figure_3_one_column.pdf").exists()
    write(tmp_path / "r", report)
    assert [path.name for path in (tmp_path / "r" / "paper").iterdir()] == ["main.tex"]


@pytest.mark.usefixtures("one_figure")
def test_the_command_writes_it_when_asked_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = ratings_table(
        skills={"a_1": 1.0, "b": -1.0}, categories=["c"], seed=1, scenarios=2, continuations=2
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["report", "--table", str(tmp_path / "t.csv"), "--out", str(tmp_path / "r")]
    assert main([*words, "--title", "T"]) == 2
    assert "--title is for the figures of --paper" in capsys.readouterr().err
    assert main([*words, "--paper", "--title", "T"]) == 0
    paper = tmp_path / "r" / "paper"
    assert r"a\_1" in (paper / "ranking.tex").read_text()
    assert "figure_7** is left out" in (paper / "captions.md").read_text()
    assert ">T</text>" in (paper / "figure_9_one_column.svg").read_text()
