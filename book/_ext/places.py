"""Messages about a notebook say "cell 6, line 1", where MyST-NB's own number is 60002."""

import logging
import re
from typing import Any

from sphinx.application import Sphinx


class CellAndLine(logging.Filter):
    """A message at `chapter.ipynb:60002` comes out at `chapter.ipynb: cell 6, line 1`."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(location := getattr(record, "location", None), str):
            record.location = re.sub(
                r"(\.ipynb):(\d+)(\d{4})$",
                lambda found: f"{found[1]}: cell {int(found[2])}, line {int(found[3]) - 1}",
                location,
            )
        return True


def setup(app: Sphinx) -> dict[str, Any]:
    for handler in logging.getLogger("sphinx").handlers:
        handler.addFilter(CellAndLine())
    return {"parallel_read_safe": True}
