"""Since last time: how data, numbers and spec differ from those of the run before, which the ledger has."""
