"""Serve the built site with kernels of this machine, so that the code in its pages can be run.

`python -m tools.site.live 8000` starts it, and opens a browser (`--no-browser`: it does not). The kernels are
Jupyter's, and so is what answers below `jupyter/`, beside the pages: tools/site/guard.py says to whom.
"""

import asyncio
import contextlib
import logging
import secrets
import signal
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from jupyter_server.auth import AllowAllAuthorizer
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.api.handlers import APIStatusHandler
from jupyter_server.services.kernels import handlers as kernels
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from jupyter_server.services.kernelspecs import handlers as kernelspecs
from jupyter_server.services.sessions import handlers as sessions
from tornado import httpserver, netutil, web

from tools.site.files import CONDITIONS, SITE, Site
from tools.site.guard import HEADERS, Guarded, TokenAlone
from tools.site.kernels import Kernels, managers, private_folder
from tools.site.server import asked_port, taken

LARGEST = 2**20  # bytes of a request; code goes by the websocket
# An address that a browser gets as a program's argument is shown to all users of the machine, token included.
REDIRECT = '<!DOCTYPE html><title>Attention, Measured</title><meta http-equiv="refresh" content="0; url={}">'


class Pages(web.RequestHandler):
    """The built site."""

    def initialize(self, site: Site) -> None:
        self.site = site

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def get(self) -> None:
        asked = self.request.headers
        answer = self.site.answer(self.request.path, *(asked.get(name, "") for name in CONDITIONS))
        self.set_status(answer.status)
        for name, value in answer.headers.items():
            self.set_header(name, value)
        if answer.body:  # with a 304 Tornado bears not even an empty one
            self.write(answer.body)

    head = get

    def compute_etag(self) -> None:
        """The site has its own."""


class Channels(KernelWebsocketHandler):
    write_error = APIHandler.write_error  # and not a page made with Jupyter's templates


class Live(Guarded):
    """The site, and of Jupyter's API what runs code: kernels and sessions, but no files and no terminals."""

    def __init__(self, site: Site, token: str, folder: Path) -> None:
        jupyter = f"{site.address}jupyter"
        site.head = f'<meta name="live" content="{jupyter}/">'
        api: list[tuple[str, type[web.RequestHandler]]] = [("/api/status", APIStatusHandler)]
        for room in (kernels, kernelspecs, sessions):
            api += room.default_handlers
        answering: dict[object, type[web.RequestHandler]] = {KernelWebsocketHandler: Channels}
        identity = TokenAlone(token=token)
        super().__init__(
            [
                *[(jupyter + path, answering.get(handler, handler)) for path, handler in api],
                (".*", Pages, {"site": site}),
            ],
            base_url=f"{jupyter}/",
            headers=HEADERS,
            identity_provider=identity,
            authorizer=AllowAllAuthorizer(identity_provider=identity),
            kernel_websocket_connection_class=ZMQChannelsWebsocketConnection,
            started=datetime.now(UTC),
            log_function=lambda handler: None,
            **managers(folder),
        )

    def last_activity(self) -> datetime:
        """For Jupyter's `api/status`."""
        kernels: Kernels = self.settings["kernel_manager"]
        return kernels.last_kernel_activity


@contextlib.contextmanager
def opened(address: str, beside: Path) -> Iterator[None]:
    """Open a browser, where there is one with a window, by a file that only this user can read.

    The file is not hidden and not in /tmp, where a browser that is packed as a snap sees none.
    """
    handle, name = tempfile.mkstemp(dir=beside.parent, prefix="live-", suffix=".html", text=True)
    with open(handle, "w", encoding="utf-8") as file:
        file.write(REDIRECT.format(address))
    try:
        with contextlib.suppress(webbrowser.Error):
            browser = webbrowser.get()
            if type(browser) is not webbrowser.GenericBrowser:  # those that take over the terminal
                browser.open(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink()


async def serve(folder: Path, port: int, opens: bool) -> None:
    """Until it is cancelled, which is what Ctrl-C does."""
    site, token = Site(folder), secrets.token_hex(32)
    with private_folder() as private, contextlib.ExitStack() as ends:
        application = Live(site, token, private)
        server = httpserver.HTTPServer(application, max_body_size=LARGEST)
        try:
            sockets = netutil.bind_sockets(port, "127.0.0.1")
        except OSError:
            sys.exit(taken(port, "live"))
        server.add_sockets(sockets)
        address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}{site.address}#live={token}"
        print(f"live: {address} (Ctrl-C stops it, and its kernels)", flush=True)
        if opens:
            ends.enter_context(opened(address, beside=folder))
        try:
            await asyncio.Event().wait()
        finally:
            server.stop()
            await application.settings["kernel_manager"].shutdown_all()


def live(folder: Path, port: int, opens: bool) -> None:
    logging.getLogger("tornado").setLevel(logging.ERROR)  # a refusal is no news
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell started it with `&`, too
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP, which says that the terminal was closed
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        asyncio.run(serve(folder, port, opens))
    except KeyboardInterrupt:
        print()


def main() -> None:
    words = sys.argv[1:]
    port = asked_port([word for word in words if word != "--no-browser"], "live")
    live(SITE, port, opens="--no-browser" not in words)


if __name__ == "__main__":
    main()
