"""The transfer paper (arXiv 2410.18027): its tables and figures."""
