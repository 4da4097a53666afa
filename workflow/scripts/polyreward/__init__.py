"""polyreward: the library behind the pipeline; everything in it can be unit-tested without Snakemake."""
