"""The measures in parts of the rows: differences from a reference, disparities, and the worst slices."""
