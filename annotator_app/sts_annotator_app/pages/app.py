"""The Streamlit script: which page to show.

It stands among the pages because Streamlit takes every file of a folder `pages` beside its script
for a page of its own, and shows that, empty, to a browser that comes back to a server started anew.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from sts_annotator_app import state
from sts_annotator_app.pages import clip, exchanges, guide, report, team
from sts_annotator_app.pages.visitor import current_roles

st.set_page_config(page_title="Annotate", layout="wide", initial_sidebar_state="collapsed")
st.html(
    """<style>
    .stElementContainer:has(.stBidiComponent) { opacity: 1 !important; }
    .stMainBlockContainer { padding: 4.2rem 2rem 1rem; max-width: 1500px; }
    @media (max-width: 860px) { .stMainBlockContainer { padding: 3.75rem 1rem 0; } }
    </style>"""
)
doing = {*current_roles()}
judged = bool(state.settings().suite)
shown = []
if "annotator" in doing and judged:
    shown += [
        (exchanges.annotate, "Annotate", "annotate"),
        (exchanges.play_page, "Take a turn", "turn"),
    ]
if "reviewer" in doing and judged:
    shown.append((exchanges.review, "Review", "review"))
curating = (exchanges.curate, "Curate", "curate")
if "curator" in doing:
    shown.append(curating)
if "lead" in doing and judged:  # people who judge for a study do not see its results
    shown.append((report.page, "Report", "report"))
if "lead" in doing:
    shown.append((team.page, "Team", "team"))
if "lead" in doing and "curator" not in doing:
    shown.append(curating)
if not shown:
    st.info("Nothing waits for you here yet. Whoever leads this study says what you do in it.")
shown.append((guide.page, "Guide", "guide"))
first, *others = shown
root = st.Page(first[0], title=first[1], url_path="first", default=True)
pages = [root, *(st.Page(run, title=title, url_path=path) for run, title, path in others)]
# Streamlit gives the first of all no address but the root: its own leads there.
leading = partial(st.switch_page, root)
pages.append(st.Page(leading, title=first[1], url_path=first[2], visibility="hidden"))
if judged:
    pages.append(st.Page(clip.page, title="Clip", url_path="clip", visibility="hidden"))
st.navigation(pages, position="top").run()
