"""The reader's nouns: what a row, an event and a predicted event are called on the card."""
