"""Playing blocks of games on a Dask cluster."""
