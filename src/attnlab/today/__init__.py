"""What came after 2017: the block of today, attention in tiles, and attention without a table."""
