"""The language of conditions: SQL about the cells of one row, in which a missing value meets nothing."""
