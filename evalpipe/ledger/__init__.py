"""The ledger: every run with its hash, its verdicts and its headline numbers, in a database beside the reports."""
