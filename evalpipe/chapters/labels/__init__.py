"""Labels: rows without an outcome, how rows came to have one, and judges that label the rest."""
