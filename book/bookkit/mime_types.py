"""What a chapter's cells store besides text: the type of each, for whatever reads or shows a notebook."""

CLAIM = "application/vnd.attnlab.claim+json"
FIGURE = "image/svg+xml"
# JupyterLab has a viewer for this type.
CHART = "application/vnd.vegalite.v5+json"
