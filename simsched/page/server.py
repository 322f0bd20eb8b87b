"""Serving a site to the browser of the same machine, and to nobody else."""

from __future__ import annotations

import gzip
import hashlib
import re
import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlsplit

from simsched.errors import ConfigError, Fault
from simsched.page.site import LIVE_FILES

ADDRESS = "127.0.0.1"
WORKER = LIVE_FILES["worker"]
FIRST_PORT = 8000
TRIED_PORTS = 100
PATIENCE = 60
"""Seconds after which a connection on which nothing happens is closed."""

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
    ".md": "text/plain; charset=utf-8",
}
PLAIN = "text/plain; charset=utf-8"
PACKED = frozenset({".html", ".js", ".mjs", ".json", ".wasm", ".md"})
LEAST_PACKED = 1024
"""Bytes below which packing does not pay."""

# A worker takes its rules from its own headers, not from the page: what runs in it may ask this machine only. Pyodide
# compiles its wasm and makes functions of text.
WORKER_POLICY = "default-src 'self'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-eval'"

_VERSIONED = re.compile(r"[a-z]+-[0-9.]+/")
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]+)?", re.IGNORECASE)


class SiteServer(ThreadingHTTPServer):
    """A server of one site on the loopback address.

    Parameters
    ----------
    site : mapping of str to bytes
        By path, with ``/``.
    port : int or None
        None looks for the first free one from 8000 on.

    Raises
    ------
    ConfigError
        If the port, or every port that is tried, is taken.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, site: Mapping[str, bytes], port: int | None = None) -> None:
        self.site = site
        self._lock = Lock()
        self._packed: dict[str, bytes] = {}
        ports = range(FIRST_PORT, FIRST_PORT + TRIED_PORTS) if port is None else (port,)
        for each in ports:
            try:
                super().__init__((ADDRESS, each), _Handler)
                return
            except OSError as error:
                reason = error.strerror or str(error)
        tried = str(port) if port is not None else f"{ports[0]} to {ports[-1]}"
        raise ConfigError("--port", [Fault(f"{tried}: {reason.lower()}; name another one")])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a reader that has gone, in whatever way: the terminal belongs to the command."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """Address to open."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    def content(self, path: str) -> bytes:
        """Return a file; one thread at a time makes what is made when it is first asked for."""
        with self._lock:
            return self.site[path]

    def packed(self, path: str) -> bytes:
        """Return a file packed with gzip."""
        data = self.content(path)
        with self._lock:
            if path not in self._packed:
                self._packed[path] = gzip.compress(data, compresslevel=5, mtime=0)
            return self._packed[path]


class _Handler(BaseHTTPRequestHandler):
    server: SiteServer
    server_version = "simsched"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def do_GET(self) -> None:
        """Answer with a file of the site."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer with what GET would say of a file."""
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        if not _HOST.fullmatch(self.headers.get("Host", "")):
            # A foreign name that leads here is another site's attempt to read this one.
            self._say(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to localhost only", with_body)
            return
        path = _path_of(self.path)
        if path not in self.server.site:
            self._say(HTTPStatus.NOT_FOUND, "there is no such file", with_body)
            return
        self._send_file(path, with_body)

    def _send_file(self, path: str, with_body: bool) -> None:
        suffix = path[path.rfind(".") :]
        data = self.server.content(path)
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        headers = {
            "Content-Type": TYPES.get(suffix, PLAIN),
            "ETag": tag,
            # A path that holds its version never changes; everything else is asked for again, and seldom sent.
            "Cache-Control": "max-age=31536000, immutable" if _VERSIONED.match(path) else "no-cache",
            "Vary": "Accept-Encoding",
        }
        if path == WORKER:
            headers["Content-Security-Policy"] = WORKER_POLICY
        if tag in self.headers.get("If-None-Match", ""):
            self._send(HTTPStatus.NOT_MODIFIED, headers, b"", with_body=False)
            return
        if suffix in PACKED and len(data) >= LEAST_PACKED and _takes_gzip(self.headers.get("Accept-Encoding", "")):
            headers["Content-Encoding"] = "gzip"
            data = self.server.packed(path)
        self._send(HTTPStatus.OK, headers, data, with_body)

    def _say(self, status: HTTPStatus, text: str, with_body: bool) -> None:
        self._send(status, {"Content-Type": PLAIN, "Cache-Control": "no-store"}, f"{text}\n".encode(), with_body)

    def _send(self, status: HTTPStatus, headers: Mapping[str, str], data: bytes, with_body: bool) -> None:
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            if status != HTTPStatus.NOT_MODIFIED:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if with_body:
                self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the reader has gone

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the command."""


def _path_of(target: str) -> str:
    """Return the path of the site that a request names; what is no address names nothing."""
    try:
        path = unquote(urlsplit(target).path).removeprefix("/")
    except ValueError:
        return target
    return f"{path}index.html" if path == "" or path.endswith("/") else path


def _takes_gzip(accepted: str) -> bool:
    for part in accepted.split(","):
        name, _, weight = part.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
