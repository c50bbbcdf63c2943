"""Standards: what their items ask for, and what of it this card answers."""
