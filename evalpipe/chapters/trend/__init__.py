"""Earlier nights in the ledger: the trend of measures with its control limits, and what is new since the last run."""
