"""One experiment of the lectures in each file; the file has its name."""
