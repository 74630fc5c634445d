"""The sections of a report: each makes HTML, and the data that the page draws."""
