"""Step 1: from YAML to a checked spec."""
