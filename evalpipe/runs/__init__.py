"""The output folder of a run: what is written there, by whom, from what, and whether it is still that."""
