"""The best arms within a budget of pulls."""
