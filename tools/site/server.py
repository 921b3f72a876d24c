"""Serve the built site on this machine alone, as on the web: compressed, and at the path it is made for.

What a browser has kept it asks for again, and is told in a few bytes where nothing has changed.

`python -m tools.site.server 8000` shows it to a person; the tests and the benchmarks use `serving`.
"""

import functools
import gzip
import hashlib
import http.server
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools import ROOT

COMPRESSED = {".html", ".css", ".js", ".svg", ".json", ".txt", ".xml"}


@functools.lru_cache(256)  # twice the site's: a server may run on while it is built again and again
def compressed(file: Path, changed: float) -> bytes:
    """What `file` held when it was last changed: the tests ask for the same files hundreds of times."""
    return gzip.compress(file.read_bytes(), mtime=0)


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments: Any, site: Path, address: str) -> None:
        self.address = address
        super().__init__(*arguments, directory=str(site))

    def translate_path(self, path: str) -> str:
        return super().translate_path("/" + path.removeprefix(self.address))

    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path))
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        if file.suffix not in COMPRESSED or not file.is_file() or not accepts_gzip:
            return super().do_GET()
        body = compressed(file, file.stat().st_mtime)
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        has_it = tag in self.headers.get("If-None-Match", "")
        self.send_response(304 if has_it else 200)
        self.send_header("ETag", tag)
        if not has_it:
            self.send_header("Content-Type", self.guess_type(file))
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not has_it:
            self.wfile.write(body)

    def end_headers(self) -> None:
        """With each answer: the site may be built anew while a browser looks at it."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Vary", "Accept-Encoding")
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: tests and measurements speak for themselves."""


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: object) -> None:
        """A browser that leaves before a page has arrived is no news."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(site: Path, port: int = 0) -> Iterator[str]:
    """`with serving(site) as address:` gives "http://127.0.0.1:40123/attention-measured/", say."""
    # The 404 page knows where the site will stand: its links must work from any address.
    (address,) = re.findall('<base href="(.*?)">', (site / "404.html").read_text("utf-8"))
    handler = functools.partial(Handler, site=site, address=address)
    with Server(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{address}"
        server.shutdown()


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    try:
        with serving(ROOT / "_build" / "html", port) as address:
            print(f"serve: {address} (Ctrl-C stops it)", flush=True)
            threading.Event().wait()
    except OSError:
        sys.exit(f"serve: port {port} is taken: choose another with `make serve PORT={port + 1}`")
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
