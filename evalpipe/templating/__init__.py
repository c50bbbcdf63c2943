"""Templates that others write for the card: read, checked and run so that they can load nothing and run no code."""
