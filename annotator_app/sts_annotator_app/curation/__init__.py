"""Server side of the curation page, independent of Streamlit."""
