"""What curves show beside themselves: marked thresholds, residuals of probabilities, and figures of calibration."""
