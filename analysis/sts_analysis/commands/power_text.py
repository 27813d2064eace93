"""Text of `sts power`: plans of pairs of agents."""

from typing import Any

from sts.cli.arguments import format_table

Row = dict[str, Any]
"""The plan of a pair of agents, as in `sts power --json`."""
SIZE = {"scenarios": 160, "continuations": 3, "annotations": 1, "unit_size": 1}
"""The size of a study that is assumed without a pilot."""
ONE_CONTINUATION = "not known: the pilot has one continuation of each scenario"
_HOURS = "hours", "hours_racing"


def describe_plans(rows: list[Row]) -> str:
    """Describe the plans of pairs of agents; of a single pair, all that is known.

    `rows` are those of `sts power --json`, at least one of them without a reason.
    """
    known = [row for row in rows if "reason" not in row]
    first, points = known[0], f"{100 * known[0]['target']:g} points"
    design = first["design"]
    pairs = "one comparison" if design["pairs"] == 1 else f"{design['pairs']} comparisons, Holm"
    target = "these scenarios only" if design["fixed"] else "other scenarios like these"
    header = ["agents", *SIZE, "detectable difference", "power", f"scenarios for {points}"]
    header = [word.replace("_", " ") for word in header]
    if first["others"]:
        header.append("for other annotators")
    lines = [
        f"Test at 5% ({pairs}) for {target}, with power {design['power']:.0%}.",
        "",
        format_table(header, [_list_cells(row) for row in known]),
        "",
        "Detectable difference: the minimum, in points. Power: simulated at that difference, with "
        "its standard error.",
        *(f"{name_pair(row)}: {row['reason']}." for row in rows if "reason" in row),
    ]
    if len(rows) > 1:
        return "\n".join([*lines, "--pair A B shows more of one pair."])
    shown = {name: value for name, value in first["assumptions"].items() if value is not None}
    texts = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in shown.items())
    source = f"From the pilot and {first.get('answers')} answers to references"
    shares = ", ".join(f"{share:.0%} between {name}" for name, share in first["shares"].items())
    lines += [
        f"{source if 'answers' in first else 'Assumed'}: {texts}.",
        f"Variance of the difference: {shares}.",
    ]
    if first["others"]:
        lines.append(_describe_others(first["others"], points))
    if rows_of_hours := first["hours"]:
        cells = [
            (
                row["continuations"],
                _write_difference(row),
                *(f"{row[name]:.0f}" for name in _HOURS if row[name] is not None),
            )
            for row in rows_of_hours
        ]
        columns = ("continuations", "detectable difference", "hours", "hours with racing")
        lines += ["", format_table(columns[: len(cells[0])], cells), ""]
        lines.append(
            "Hours: of judging all agents, if no two continuations look alike; see --seconds."
        )
        if rows_of_hours[0]["hours_racing"] is not None:
            lines.append(_describe_race(first))
        elif first["goal"] != "all":
            lines.append("Racing: not simulated, as the study is too large.")
    for name in ("continuations", "annotations"):
        text = str(first["needed"][name] or "no number suffices")
        if name == "continuations" and "icc" not in shown:
            text = ONE_CONTINUATION
        lines.append(f"{name.capitalize()} for {points}, all else the same: {text}.")
    return "\n".join(lines)


def _describe_others(row: Row, points: str) -> str:
    pool, needed = row["pool"], row["needed"]
    found = f"detectable difference {_write_difference(row)}"
    if row["power"] is not None:
        found += f", power {row['power']:.2f} ± {row['power_error']:.2f}"
    numbers = " or ".join(
        f"{needed[name] or 'no number of'} {name}" for name in ("scenarios", "annotators")
    )
    shares = row["shares"]
    judged = f"{shares['strictness'] + shares['favours']:.0%}"
    return (
        f"For other annotators like these {pool['annotators']} (strictness "
        f"{pool['strictness']:.2f}, favouritism {pool['favouritism']:.2f} in log odds): {found}. "
        f"{judged} of the variance is between annotators. {points[:1].upper()}{points[1:]} take "
        f"{numbers}, all else the same."
    )


def _describe_race(row: Row) -> str:
    rates = "those of the pilot"
    if "rates" in row:
        low, high = row["rates"][-1], row["rates"][0]
        points = f"{100 * row['target']:g} points"
        rates = f"{low:.2f} to {high:.2f}, neighbours {points} apart within 0.02 to 0.98"
    what = "all pairs of agents" if row["goal"] == "rank" else "which agent is best"
    return f"Racing: the mean of simulated studies, to resolve {what}. True rates: {rates}."


def _list_cells(row: Row) -> list[Any]:
    number = row["needed"]["scenarios"]
    ends = row.get("scenarios_range") or [number or "none suffices"]
    return [
        name_pair(row),
        *(str(round(row["design"][name], 2)) for name in SIZE),
        _write_difference(row),
        "–" if row["power"] is None else f"{row['power']:.2f} ± {row['power_error']:.2f}",
        " to ".join(str(end) for end in ends),
        *([_write_difference(row["others"])] if row["others"] else []),
    ]


def _write_difference(plan: Row) -> str:
    return "none" if plan["difference"] is None else f"{100 * plan['difference']:.1f}"


def name_pair(row: Row) -> str:
    """Return the names of the agents of a row, or what stands for them without a pilot."""
    return f"{row['a']}, {row['b']}" if row["a"] else "two, as assumed"
