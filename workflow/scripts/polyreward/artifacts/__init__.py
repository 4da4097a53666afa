"""How results are shown: tables as people read them, figures, notebooks."""
