"""The best arms if pulls come in batches."""
