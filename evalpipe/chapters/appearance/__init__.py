"""How the card looks: its tokens, which change no number."""
