"""Who may use the kernels of `make live`: whoever has its token, and that from its own pages alone.

The server listens on the loopback address alone. What another page in the browser sends is refused before
anything looks at it, token or no token. And nothing opens a kernel but the token, in the request itself:
cookies, which a browser adds to whatever any page sends, are neither read nor set.
"""

import secrets
from typing import Any
from urllib.parse import urlsplit

from jupyter_server.auth import IdentityProvider, User
from tornado import httputil, web

# By which names this machine calls itself. With any port: `ssh -L` and containers show it at another.
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",  # no page around ours, to have it clicked unseen
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def is_own(headers: httputil.HTTPHeaders) -> bool:
    """Whether a request came by this machine's own name, and from no page but one of this very server.

    A page elsewhere can have its name lead to 127.0.0.1, and a browser then takes this server for that page's
    own, but still sends the page's name along.
    """
    host = headers.get("Host", "")
    origins = {*headers.get_list("Origin"), *headers.get_list("Sec-Websocket-Origin")}
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK and origins <= {f"http://{host}"}
    except ValueError:  # a bracket left open
        return False


class Guarded(web.Application):
    """An application that hears its own pages and no others."""

    def find_handler(self, request: httputil.HTTPServerRequest, **more: Any) -> Any:
        if is_own(request.headers):
            return super().find_handler(request, **more)
        return self.get_handler_delegate(request, web.ErrorHandler, {"status_code": 403})


class TokenAlone(IdentityProvider):
    """`TokenAlone(token=…)` knows one user, and them by the token in each request."""

    async def get_user(self, handler: web.RequestHandler) -> User | None:
        sent = self.get_token(handler) or ""
        return User("reader") if secrets.compare_digest(sent.encode(), self.token.encode()) else None

    def is_token_authenticated(self, handler: web.RequestHandler) -> bool:
        return handler.current_user is not None

    def should_check_origin(self, handler: web.RequestHandler) -> bool:
        """Jupyter would hear any page that has the token."""
        return True
