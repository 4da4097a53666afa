"""The transfer paper (arXiv 2410.18027): tables and figures."""
