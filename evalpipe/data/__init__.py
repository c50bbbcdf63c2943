"""Step 3: the only reader of data."""
