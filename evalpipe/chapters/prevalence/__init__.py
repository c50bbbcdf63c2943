"""The prior probability of the event where the model will be used, and what measures are at it."""
