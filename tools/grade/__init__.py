"""Hand-ins, run again and judged."""
