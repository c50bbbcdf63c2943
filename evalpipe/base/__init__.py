"""What every room may stand on: digests, files and locks, origins of values, kinds of arrays. It knows no step."""
