"""The parts of a search for good settings: what is tried, one trial, rounds of them, what was found."""
