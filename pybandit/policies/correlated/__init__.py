"""Arms with correlated means, described by a kernel or features."""
