"""What comes in: tables of ratings and scores, checked and typed, and a workspace of them."""
