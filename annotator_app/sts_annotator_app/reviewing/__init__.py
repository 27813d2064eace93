"""Server side of the review page, independent of Streamlit."""
