"""Translation: one small interface, its engines, and the invariants of a translation."""
