"""Arms whose means are above a threshold."""
