"""What the paragraph on methods cites: how each is named in a sentence, and its BibTeX."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Work(NamedTuple):
    """A published work.

    Attributes:
      short: authors and year, in brackets in a sentence.
      kind: of the BibTeX entry.
      fields: of the entry; LaTeX.
    """

    short: str
    kind: str
    fields: Mapping[str, str]

    def plain(self) -> str:
        """The work in a line of text."""
        fields = {key: _bare(value) for key, value in self.fields.items()}
        where = " ".join(
            filter(None, (fields.get("journal", fields.get("publisher", "")), fields.get("volume")))
        )
        pages = f":{fields['pages']}" if "pages" in fields else ""
        authors = fields["author"].replace(" and ", "; ")
        return f"{authors} ({fields['year']}). {fields['title']}. {where}{pages}."


def _article(short: str, author: str, title: str, journal: str, year: int, **more: str) -> Work:
    fields = {"author": author, "title": title, "journal": journal, "year": str(year), **more}
    return Work(short, "article", fields)


WORKS: dict[str, Work] = {
    "abramson2022": _article(
        "Abramson et al. 2022",
        "{Interactive Agents Team, DeepMind} and Abramson, Josh and others",
        "Evaluating Multimodal Interactive Agents",
        "arXiv preprint arXiv:2205.13274",
        2022,
    ),
    "bonett2000": _article(
        "Bonett and Wright 2000",
        "Bonett, Douglas G. and Wright, Thomas A.",
        "Sample size requirements for estimating {Pearson}, {Kendall} and {Spearman} correlations",
        "Psychometrika",
        2000,
        volume="65",
        pages="23--28",
    ),
    "chernozhukov2013": _article(
        "Chernozhukov et al. 2013",
        "Chernozhukov, Victor and Chetverikov, Denis and Kato, Kengo",
        "Gaussian approximations and multiplier bootstrap for maxima of sums of high-dimensional "
        "random vectors",
        "The Annals of Statistics",
        2013,
        volume="41",
        pages="2786--2819",
    ),
    "holm1979": _article(
        "Holm 1979",
        "Holm, Sture",
        "A simple sequentially rejective multiple test procedure",
        "Scandinavian Journal of Statistics",
        1979,
        volume="6",
        pages="65--70",
    ),
    "krippendorff2004": Work(
        "Krippendorff 2004",
        "book",
        {
            "author": "Krippendorff, Klaus",
            "title": "Content Analysis: An Introduction to Its Methodology",
            "publisher": "Sage",
            "year": "2004",
        },
    ),
    "lang2014": _article(
        "Lang and Reiczigel 2014",
        "Lang, Zsolt and Reiczigel, Jen{\\H{o}}",
        "Confidence limits for prevalence of disease adjusted for estimated sensitivity and "
        "specificity",
        "Preventive Veterinary Medicine",
        2014,
        volume="113",
        pages="13--22",
    ),
    "miller2024": _article(
        "Miller 2024",
        "Miller, Evan",
        "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations",
        "arXiv preprint arXiv:2411.00640",
        2024,
    ),
    "newcombe1998": _article(
        "Newcombe 1998",
        "Newcombe, Robert G.",
        "Interval estimation for the difference between independent proportions: comparison of "
        "eleven methods",
        "Statistics in Medicine",
        1998,
        volume="17",
        pages="873--890",
    ),
    "romano2005": _article(
        "Romano and Wolf 2005",
        "Romano, Joseph P. and Wolf, Michael",
        "Stepwise multiple testing as formalized data snooping",
        "Econometrica",
        2005,
        volume="73",
        pages="1237--1282",
    ),
    "shrout1979": _article(
        "Shrout and Fleiss 1979",
        "Shrout, Patrick E. and Fleiss, Joseph L.",
        "Intraclass correlations: Uses in assessing rater reliability",
        "Psychological Bulletin",
        1979,
        volume="86",
        pages="420--428",
    ),
    "satterthwaite1946": _article(
        "Satterthwaite 1946",
        "Satterthwaite, Franklin E.",
        "An approximate distribution of estimates of variance components",
        "Biometrics Bulletin",
        1946,
        volume="2",
        pages="110--114",
    ),
    "spearman1904": _article(
        "Spearman 1904",
        "Spearman, Charles",
        "The proof and measurement of association between two things",
        "The American Journal of Psychology",
        1904,
        volume="15",
        pages="72--101",
    ),
    "wilson1927": _article(
        "Wilson 1927",
        "Wilson, Edwin B.",
        "Probable inference, the law of succession, and statistical inference",
        "Journal of the American Statistical Association",
        1927,
        volume="22",
        pages="209--212",
    ),
}


def bibtex(keys: Iterable[str]) -> str:
    """The entries of some works, in alphabetical order of their keys."""
    return "\n".join(
        "\n".join(
            [
                f"@{WORKS[key].kind}{{{key},",
                *(f"  {name} = {{{value}}}," for name, value in WORKS[key].fields.items()),
                "}\n",
            ]
        )
        for key in sorted(keys)
    )


def _bare(value: str) -> str:
    """LaTeX of an entry as text."""
    value = value.replace("{\\H{o}}", "\u0151").replace("--", "\N{EN DASH}")
    return value.replace("{", "").replace("}", "")
