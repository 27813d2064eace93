"""What stands behind the page on which judgements are reviewed; it knows no Streamlit."""
