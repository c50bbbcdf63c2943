"""The equivocal zone, whose rows have no predicted class."""
