"""One self-contained HTML file from the data of a page: styles, scripts and data inside, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from simsched import _version
from simsched.errors import ConfigError, Fault
from simsched.page.link import link_scripts

WEB = Path(__file__).parent / "web"
PAGE = 1
"""Version of the data that pages hold."""

_PLACE = re.compile(r"<!--(policy|css|data|script)-->")
_SCRIPT = re.compile(r'<script type="module">(.*?)</script>', re.DOTALL)
# What could end the element that holds the data, what old JavaScript takes for the end of a line, and what is no text.
_UNSAFE = re.compile("[<\u2028\u2029\ud800-\udfff]")


def page_data(
    scene: Mapping[str, Any], *, lessons: Sequence[Mapping[str, Any]] = (), live: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return ``PageData`` of ``web/types.d.ts``.

    Parameters
    ----------
    scene : mapping
        Of :func:`simsched.page.document.page_document`.
    lessons : sequence of mapping
    live : mapping, optional
        Where the page finds what it needs to run simsched itself; without it the page only replays.
    """
    return {
        "simsched_page": PAGE,
        "version": _version.__version__,
        "scene": scene,
        "lessons": list(lessons),
        "live": None if live is None else dict(live),
    }


def page_html(data: Mapping[str, Any]) -> str:
    """Return the page as the text of one HTML file; equal data give equal bytes.

    Parameters
    ----------
    data : mapping
        Of :func:`page_data`.
    """
    template, css, joined = _shell()
    parts = {"css": css, "script": joined, "data": json_in_html(data)}
    script = _filled(_SCRIPT.findall(template)[0], parts)
    return _filled(template, {**parts, "policy": _policy_tag(script, live=data["live"] is not None)})


@cache
def _shell() -> tuple[str, str, str]:
    """The template, the styles and the script of every page."""
    template = _read(WEB / "page.html")
    for name in ("policy", "css", "data", "script"):
        if template.count(f"<!--{name}-->") != 1:
            raise ConfigError("page.html", [Fault(f"has no single place for <!--{name}-->")])
    styles = joined_styles({path.name: _read(path) for path in (WEB / "css").glob("*.css")})
    return template, styles, link_scripts({path.name: _read(path) for path in (WEB / "js").glob("*.js")})


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """Put parts into their places, all at once: what is put in is not looked at again."""
    return _PLACE.sub(lambda found: parts[found[1]], template)


def json_in_html(data: Any) -> str:
    r"""Return JSON that no HTML parser takes for a tag or a comment, whatever texts are in it.

    Examples
    --------
    >>> print(json_in_html({"name": "</script><!--"}))
    {"name":"\u003c/script>\u003c!--"}
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def joined_styles(sheets: Mapping[str, str]) -> str:
    """Join style sheets: ``base.css``, then the others by name.

    Raises
    ------
    ConfigError
        If one of them would end the element that holds them.
    """
    for name, text in sheets.items():
        if "</style" in text.lower():
            raise ConfigError(f"css/{name}", [Fault("'</style' would end the styles in the page")])
    names = sorted(sheets, key=lambda name: (name != "base.css", name))
    return "\n".join(sheets[name].strip() for name in names)


def _policy_tag(script: str, *, live: bool) -> str:
    """A policy under which only the page's own script runs, and nothing is fetched from elsewhere.

    A page that runs simsched itself also starts a worker, which loads Pyodide and compiles it; from its own origin.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = f"'sha256-{digest}'"
    rules = ["default-src 'none'", "style-src 'unsafe-inline'", "img-src data: blob:"]
    if live:
        rules += [f"script-src {own} 'self' 'wasm-unsafe-eval'", "worker-src 'self' blob:", "connect-src 'self'"]
    else:
        rules.append(f"script-src {own}")
    rules += ["base-uri 'none'", "form-action 'none'"]
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'


def _read(path: Path) -> str:
    return path.read_text("utf-8").replace("\r\n", "\n")
