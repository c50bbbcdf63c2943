"""What the rows hold: values that many share, copies, rows of training, and columns that the spec does not name."""
