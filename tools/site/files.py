"""What the built site answers, whichever server is asked: compressed, and at the path that it is made for.

What a browser has kept it asks for again, and is told in a few bytes where nothing has changed.
"""

import functools
import gzip
import hashlib
import mimetypes
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from tools import ROOT

SITE = ROOT / "_build" / "html"
# Named here and not asked of the system: Windows may take a script for plain text, which no browser runs.
COMPRESSED = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".txt": "text/plain",
    ".xml": "text/xml",
}


# What the site's files are called. No way up, no other drive or machine (Windows has `C:` and `\\name`).
NAME = re.compile(r"(?!.*\.\.)[\w./-]+")
CONDITIONS = ("Accept-Encoding", "If-None-Match")  # what of a request's headers makes a difference


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@functools.lru_cache(256)  # twice the site's: a server may run on while it is built again and again
def compressed(file: Path, changed: float, head: str) -> bytes:
    """What `file` held when it was last changed: the tests ask for the same files hundreds of times."""
    return gzip.compress(content(file, head), mtime=0)


def content(file: Path, head: str) -> bytes:
    """The file as it is, but that a page begins its head with `head`."""
    body = file.read_bytes()
    return body.replace(b"<head>", b"<head>" + head.encode(), 1) if file.suffix == ".html" else body


class Site:
    """`Site(folder).answer("/attention-measured/index.html")` is that page, with its headers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.head = ""  # what a server has to say in the head of each page
        # The 404 page knows where the site will stand: its links must work from any address.
        (self.address,) = re.findall('<base href="(.*?)">', (folder / "404.html").read_text("utf-8"))

    def answer(self, path: str, encodings: str = "", kept: str = "") -> Answer:
        """To a request for `path`, by who can unpack these `encodings` and has `kept` these ETags."""
        file = self.file(path)
        status = 200 if file else 404
        file = file or self.folder / "404.html"
        kind = COMPRESSED.get(file.suffix)
        # To be asked for each time: the site may be built anew while a browser looks at it.
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        headers["Content-Type"] = kind or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if kind and "gzip" in encodings:
            headers["Content-Encoding"] = "gzip"
            body = compressed(file, file.stat().st_mtime, self.head)
        else:
            body = content(file, self.head)
        headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if headers["ETag"] in kept:
            return Answer(304, headers, b"")
        headers["Content-Length"] = str(len(body))
        return Answer(status, headers, body)

    def file(self, path: str) -> Path | None:
        """The file that an address means, if the site has it."""
        name = unquote(path.partition("?")[0].removeprefix(self.address)).lstrip("/") or "index.html"
        file = self.folder / name
        return file if NAME.fullmatch(name) and file.is_file() else None
