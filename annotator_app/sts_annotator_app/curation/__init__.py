"""What stands behind the page on which a draft is decided; it knows no Streamlit."""
