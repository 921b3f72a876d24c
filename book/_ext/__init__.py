"""The extensions of Sphinx that make the site, as _config.yml lists them."""
