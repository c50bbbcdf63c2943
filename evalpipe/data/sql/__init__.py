"""Queries of databases: their columns, and their rows, which are stored in files for the time of a run.

Rows come through ADBC drivers (Arrow Database Connectivity) in batches and are written to a temporary Arrow file, which
is then read as any other. So all that reads them several times reads the same rows, a connection is held no longer than
the database needs to answer, and memory holds a batch.
"""
