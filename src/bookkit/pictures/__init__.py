"""What a page shows besides words: figures of measurements, drawings of ideas, charts that move."""
