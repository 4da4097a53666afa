"""Translation: one small interface, engines behind it, and what must survive any of them."""
