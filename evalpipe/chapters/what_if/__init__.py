"""What predicted classes come to: of a thousand rows, and at other thresholds and prevalences for a reader to try."""
