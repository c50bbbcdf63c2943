"""What curves show beside themselves: marked thresholds with the numbers there, and residuals of probabilities."""
