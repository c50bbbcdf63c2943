"""What is looked for in every run: each check with its code, its outcome, and why it does not apply or is silenced."""
