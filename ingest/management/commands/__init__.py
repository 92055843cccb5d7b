"""Commands of the collection."""
