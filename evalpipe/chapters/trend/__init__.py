"""The trend: measures of earlier nights from the ledger beside those of tonight, with control limits."""
