"""Who judges in a trial of judgements, what befalls them, and what they are held against."""
