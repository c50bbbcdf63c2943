"""The row-level file: what each model says of each evaluated row, beside the card."""
