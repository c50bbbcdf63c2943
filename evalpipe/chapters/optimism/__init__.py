"""How much too good a model looks on the rows that it was fitted to, from bootstrap fits that the user made."""
