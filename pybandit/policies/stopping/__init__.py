"""Rules that decide when enough is known, and policies that such a rule stops."""
