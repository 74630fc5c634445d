"""Speed, measured beside the peers in one run: `make bench`."""
