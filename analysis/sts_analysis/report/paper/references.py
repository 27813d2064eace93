"""The works that the methods paragraph cites: their short names and BibTeX."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Work(NamedTuple):
    """A published work."""

    short: str  # authors and year, as in a sentence
    fields: Mapping[str, str]  # of its BibTeX entry; LaTeX

    def format_plain(self) -> str:
        """Return the work in a line of text."""
        fields = {key: _strip(value) for key, value in self.fields.items()}
        authors = fields["author"].replace(" and ", "; ")
        where = " ".join(filter(None, (fields["journal"], fields.get("volume", ""))))
        pages = f":{fields['pages']}" if "pages" in fields else ""
        return f"{authors} ({fields['year']}). {fields['title']}. {where}{pages}."


def _article(
    short: str, author: str, title: str, journal: str, volume: str = "", pages: str = ""
) -> Work:
    fields = {
        "author": author,
        "title": title,
        "journal": journal,
        "year": short[-4:],
        "volume": volume,
        "pages": pages,
    }
    return Work(short, {key: value for key, value in fields.items() if value})


WORKS: dict[str, Work] = {
    "abramson2022": _article(
        "Abramson et al. 2022",
        "{Interactive Agents Team, DeepMind} and Abramson, Josh and others",
        "Evaluating Multimodal Interactive Agents",
        "arXiv preprint arXiv:2205.13274",
    ),
    "bell2002": _article(
        "Bell and McCaffrey 2002",
        "Bell, Robert M. and McCaffrey, Daniel F.",
        "Bias reduction in standard errors for linear regression with multi-stage samples",
        "Survey Methodology",
        "28",
        "169--181",
    ),
    "breslow1993": _article(
        "Breslow and Clayton 1993",
        "Breslow, Norman E. and Clayton, David G.",
        "Approximate inference in generalized linear mixed models",
        "Journal of the American Statistical Association",
        "88",
        "9--25",
    ),
    "holm1979": _article(
        "Holm 1979",
        "Holm, Sture",
        "A simple sequentially rejective multiple test procedure",
        "Scandinavian Journal of Statistics",
        "6",
        "65--70",
    ),
    "liang1986": _article(
        "Liang and Zeger 1986",
        "Liang, Kung-Yee and Zeger, Scott L.",
        "Longitudinal data analysis using generalized linear models",
        "Biometrika",
        "73",
        "13--22",
    ),
    "mogstad2024": _article(
        "Mogstad et al. 2024",
        "Mogstad, Magne and Romano, Joseph P. and Shaikh, Azeem M. and Wilhelm, Daniel",
        "Inference for ranks with applications to mobility across neighbourhoods and academic "
        "achievement across countries",
        "The Review of Economic Studies",
        "91",
        "476--518",
    ),
    "pustejovsky2018": _article(
        "Pustejovsky and Tipton 2018",
        "Pustejovsky, James E. and Tipton, Elizabeth",
        "Small-sample methods for cluster-robust variance estimation and hypothesis testing in "
        "fixed effects models",
        "Journal of Business \\& Economic Statistics",
        "36",
        "672--683",
    ),
    "wilson1927": _article(
        "Wilson 1927",
        "Wilson, Edwin B.",
        "Probable inference, the law of succession, and statistical inference",
        "Journal of the American Statistical Association",
        "22",
        "209--212",
    ),
}


def format_bibtex(keys: Iterable[str]) -> str:
    """Format the BibTeX entries of works, in alphabetical order of their keys."""
    entries = []
    for key in sorted(keys):
        fields = [f"  {name} = {{{value}}}," for name, value in WORKS[key].fields.items()]
        entries.append("\n".join([f"@article{{{key},", *fields, "}\n"]))
    return "\n".join(entries)


def _strip(value: str) -> str:
    """Return LaTeX of an entry as text."""
    text = value.replace("--", "\N{EN DASH}").replace("\\&", "&")
    return text.replace("{", "").replace("}", "")
