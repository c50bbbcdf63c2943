"""Step 2: what will be computed, from the spec and the columns of the data alone. Pure; nothing is read here."""
