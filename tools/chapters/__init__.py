"""The chapters as they are stored: executed, read, written, and handed out."""
