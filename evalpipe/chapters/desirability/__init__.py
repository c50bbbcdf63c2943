"""Goals on a scale from 0 to 1, whose weighted geometric mean ranks the models, or a table of candidates of tuning."""
