"""What is told by what goes in and what comes out. Each test says in words what it saw, and what it found."""
