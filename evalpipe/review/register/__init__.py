"""A register: one line for each card in folders and ledgers, sorted by what needs a person."""
