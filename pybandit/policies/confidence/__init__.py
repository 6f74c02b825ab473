"""The best arms with a bound on the probability of an error."""
