"""What each chapter adds to the book: its exercises, its charts and its figures, in a folder of its name."""
