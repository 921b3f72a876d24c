"""What several of the drawings are made of."""

ROLES = (
    ("query", "W_Q", "q", "what it asks by"),
    ("key", "W_K", "k", "what it is found by"),
    ("value", "W_V", "v", "what it hands over"),
)
