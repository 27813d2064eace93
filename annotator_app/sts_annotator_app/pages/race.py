"""The race of a study, for its lead: the looks, who has left, and her decisions."""

from collections.abc import Sequence

import streamlit as st

from sts.annotations.findings.plan import validate_reason
from sts.annotations.people.members import Member
from sts.annotations.queue.leaving import confirm_look, keep_agent
from sts.annotations.races import AIMS, DIFFERENT, HOPELESS, OPEN, Race
from sts.annotations.records import Annotator
from sts.names import count_noun, format_time
from sts_annotator_app.pages.changes import apply_change
from sts_annotator_app.pages.tables import escape_markdown, render_table


def show_race(
    race: Race,
    suite: str,
    lead: Annotator,
    agents: Sequence[str],
    goal: str,
    members: Sequence[Member],
    now: float,
) -> None:
    """Show who is in the race, and the forms for a lead's decisions."""
    pairs, out = len(agents) * (len(agents) - 1) // 2, race.out
    racing = [agent for agent in agents if agent not in out]
    st.write(
        escape_markdown(
            f"People judge {AIMS[goal]}. {len(race.resolved)} of {count_noun(pairs, 'pair')} "
            f"resolved. In the race: {', '.join(racing) or 'none; judging is complete'}."
        )
    )
    if race.looks:
        header = ["After round", "Decided (UTC)", "Different", "Hopeless", "Open", "Left"]
        rows = [
            (
                f"{look.point:g}",
                format_time(look.at),
                *(sum(p.outcome == one for p in look.pairs) for one in (DIFFERENT, HOPELESS, OPEN)),
                ", ".join(look.leaving) + (" (not confirmed)" if look is race.pending else ""),
            )
            for look in race.looks
        ]
        st.html(render_table(header, rows))
        st.caption(
            "An agent leaves when all its pairs are resolved: they differ significantly, or would "
            "hardly do so at the end. Annotators do not learn who has left."
        )
    names = {member.person.pseudonym: member.person.name for member in members}
    for agent, decision in race.kept.items():
        by = names.get(decision.by, decision.by)
        st.text(f"{agent} is kept in the race by {by}: {decision.reason}")
    if race.pending:
        leaving = ", ".join(race.pending.leaving)
        st.warning(
            escape_markdown(f"Waits for you: {leaving} would leave. Until then, no look follows.")
        )
        if st.button("Confirm"):
            apply_change(f"{leaving} left the race.", confirm_look, suite, lead, now=now)
    if choices := [agent for agent in agents if agent not in race.kept]:
        with st.expander("Keep an agent in the race, or bring it back"):
            agent = st.selectbox("Agent", choices)
            reason = st.text_input("Reason, which every report gives", max_chars=200)
            if st.button("Keep"):
                apply_change(
                    f"{agent} stays.",
                    lambda c: keep_agent(c, suite, agent, lead, validate_reason(reason), now=now),
                )
