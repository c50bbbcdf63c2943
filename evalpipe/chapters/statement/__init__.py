"""What people state of the model and its evaluation, which no data can tell."""
