"""The site: built, served, printed, and looked at."""
