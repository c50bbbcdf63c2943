"""How the figures of calibration are made: bins, moving windows, smooth curves and the rug."""
