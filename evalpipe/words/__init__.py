"""Words and numbers as people read them: how numbers are written, how words are quoted, listed and suggested."""
