"""Margins: from which size on an effect that no gate judges is a failure, and below which it is a note."""
