"""The book's machinery: how it states claims, draws, checks exercises, and lists its chapters."""
