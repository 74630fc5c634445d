"""Schedules: what one is, those that fall, those that go in cycles, controllers, and the table of all by name."""
