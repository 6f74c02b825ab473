"""The best arms when pulls come in batches."""
