"""What only its exercises say, its chart and its models."""
