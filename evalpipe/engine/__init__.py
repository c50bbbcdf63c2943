"""Step 4: from samples to values, intervals and curves. The only place where numbers are computed."""
