"""The Streamlit script: which page to show.

It stands among the pages because Streamlit takes every file of a folder `pages` beside its script
for a page of its own, and shows that, empty, to a browser that comes back to a server started anew.
"""

from __future__ import annotations

import streamlit as st

from annotator_app import state
from annotator_app.pages import annotate, clip, curate, guide, play, report, review, team
from annotator_app.pages.visitor import roles

st.set_page_config(page_title="Annotate", layout="wide", initial_sidebar_state="collapsed")
st.html(
    """<style>
    .stElementContainer:has(.stBidiComponent) { opacity: 1 !important; }
    .stMainBlockContainer { padding: 4.2rem 2rem 1rem; max-width: 1500px; }
    @media (max-width: 860px) { .stMainBlockContainer { padding: 3.75rem 1rem 0; } }
    </style>"""
)
doing = {*roles()}
judged = bool(state.settings().suite)
pages = []
if "annotator" in doing and judged:
    pages.append(st.Page(annotate.page, title="Annotate", url_path="annotate"))
    pages.append(st.Page(play.page, title="Take a turn", url_path="turn"))
if "reviewer" in doing and judged:
    pages.append(st.Page(review.page, title="Review", url_path="review"))
curating = st.Page(curate.page, title="Curate", url_path="curate")
if "curator" in doing:
    pages.append(curating)
if "lead" in doing and judged:  # people who judge for a study do not see its results
    pages.append(st.Page(report.page, title="Report", url_path="report"))
if "lead" in doing:
    pages.append(st.Page(team.page, title="Team", url_path="team"))
if "lead" in doing and "curator" not in doing:
    pages.append(curating)
if not pages:
    st.info("Nothing waits for you here yet. Whoever leads this study says what you do in it.")
pages.append(st.Page(guide.page, title="Guide", url_path="guide"))
if judged:  # after the others: the first of all has no address but the root
    pages.append(st.Page(clip.page, title="Clip", url_path="clip", visibility="hidden"))
st.navigation(pages, position="top").run()
