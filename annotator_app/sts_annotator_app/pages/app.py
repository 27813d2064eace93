"""Streamlit script that builds the navigation and runs the selected page.

It lies in `pages` because Streamlit treats the files of a folder `pages` next to its script as
pages, and would show an empty one to a browser that reconnects after a restart.
"""

from collections.abc import Callable

import streamlit as st

from sts_annotator_app.pages import clip, component_pages, guide, live, new_scenario, report, team
from sts_annotator_app.pages.access import current_roles, may_join_live
from sts_annotator_app.settings import get_settings

st.set_page_config(page_title="Annotate", layout="wide", initial_sidebar_state="collapsed")
st.html(
    """<style>
    .stElementContainer:has(.stBidiComponent) { opacity: 1 !important; }
    .stMainBlockContainer { padding: 4.2rem 2rem 1rem; max-width: 1500px; }
    @media (max-width: 860px) { .stMainBlockContainer { padding: 3.75rem 1rem 0; } }
    </style>"""
)
roles = {*current_roles()}
judged = bool(get_settings().suite)
entries: list[tuple[Callable[[], None], str, str]] = []
if "annotator" in roles and judged:
    entries.append((component_pages.show_annotate, "Annotate", "annotate"))
if "reviewer" in roles and judged:
    entries.append((component_pages.show_review, "Review", "review"))
curating: list[tuple[Callable[[], None], str, str]] = [
    (component_pages.show_curate, "Curate", "curate"),
    (new_scenario.show_page, "New scenario", "new"),
]
if "curator" in roles:
    entries += curating
if "lead" in roles and judged:  # annotators do not see the results of their study
    entries.append((report.show_page, "Report", "report"))
if "lead" in roles:
    entries.append((team.show_page, "Team", "team"))
if "lead" in roles and "curator" not in roles:
    entries += curating
if roles & {"annotator", "curator", "lead"} and may_join_live():
    entries.append((live.show_page, "Live", "live"))
if not entries:
    st.info("You have no tasks yet. Ask the study lead to give you a role.")
entries.append((guide.show_page, "Guide", "guide"))
(show_first, first_title, first_path), *rest = entries
root = st.Page(show_first, title=first_title, url_path="first", default=True)
pages = [root, *(st.Page(run, title=title, url_path=path) for run, title, path in rest)]
# Streamlit serves the default page only at the root; redirect its own address there.


def redirect() -> None:
    """Show the default page, with what the address asks for."""
    st.switch_page(root, query_params=st.query_params.to_dict())


pages.append(st.Page(redirect, title=first_title, url_path=first_path, visibility="hidden"))
if judged:
    pages.append(st.Page(clip.show_page, title="Clip", url_path="clip", visibility="hidden"))
st.navigation(pages, position="top").run()
