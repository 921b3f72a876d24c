"""How fast the package and the site are."""
