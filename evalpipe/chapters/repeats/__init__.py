"""Several fits of one model: how far a measure spreads between them, and over the rows."""
