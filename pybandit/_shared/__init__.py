"""Code that every room may use and that depends on no room."""
