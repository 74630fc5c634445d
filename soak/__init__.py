"""Long, hard use: thousands of fits, many threads, forks, kills, forged files. `make soak` runs it."""
