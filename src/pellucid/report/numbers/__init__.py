"""The numbers behind every chart, computed once: the page and matplotlib draw the same records."""
