"""What wrong predictions cost, and what contacting rows brings."""
