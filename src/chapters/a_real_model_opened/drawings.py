"""The drawings, made from the chapter's own numbers."""
