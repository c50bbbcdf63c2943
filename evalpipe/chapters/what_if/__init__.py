"""What the predicted classes would be at other thresholds and prevalences, for the reader of the page to try."""
