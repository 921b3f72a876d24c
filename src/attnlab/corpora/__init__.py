"""What is read: sentences with a known truth, reviews, and other people's texts."""
