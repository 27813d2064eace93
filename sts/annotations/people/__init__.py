"""People of a study: roles, invitations, consent, exclusions and payable time.

What a person may do or see belongs here, what they get to judge to `queue`.
"""
