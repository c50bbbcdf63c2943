"""Items whose text is also in another dataset, such as the training data."""
