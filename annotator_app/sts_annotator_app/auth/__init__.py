"""Authentication of browsers: invitations, OpenID Connect, and sessions."""
