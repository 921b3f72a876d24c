"""Serve the built site on this machine alone, as on the web: compressed, and at the path it is made for.

`python -m tools.site.server 8000` shows it to a person; the tests and the benchmarks use `serving`.
"""

import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.site.files import CONDITIONS, SITE, Site

PORT = 8000


class Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, *arguments: Any, site: Site) -> None:
        self.site = site
        super().__init__(*arguments)

    def do_GET(self) -> None:
        answer = self.site.answer(self.path, *(self.headers.get(name, "") for name in CONDITIONS))
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: tests and measurements speak for themselves."""


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: object) -> None:
        """A browser that leaves before a page has arrived is no news."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[str]:
    """`with serving(site) as address:` gives "http://127.0.0.1:40123/attention-measured/", say."""
    site = Site(folder)
    with Server(("127.0.0.1", port), functools.partial(Handler, site=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{site.address}"
        finally:
            server.shutdown()


def asked_port(words: list[str], command: str) -> int:
    """`asked_port(["8001"], "serve")` is 8001. Another word ends in one sentence, as a missing site does."""
    word = words[0] if words else str(PORT)
    if not (word.isdecimal() and int(word) < 2**16):
        sys.exit(
            f"{command}: a port is a number below {2**16}, as in `make {command} PORT={PORT}`: {word} is none"
        )
    if not (SITE / "404.html").exists():
        sys.exit(f"{command}: the site is not built yet: `make {command}` does it first")
    return int(word)


def taken(port: int, command: str) -> str:
    return f"{command}: port {port} is taken: choose another with `make {command} PORT={port + 1}`"


def main() -> None:
    port = asked_port(sys.argv[1:], "serve")
    try:
        with serving(SITE, port) as address:
            print(f"serve: {address} (Ctrl-C stops it)", flush=True)
            print(
                "serve: `make live` serves the same pages with kernels, so that their code can be run",
                flush=True,
            )
            threading.Event().wait()
    except OSError:
        sys.exit(taken(port, "serve"))
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
