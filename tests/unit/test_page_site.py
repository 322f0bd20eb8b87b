"""The static site of a live page, the server of it, and ``simsched serve``."""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.client
import io
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from simsched.data import packaged
from simsched.errors import ConfigError
from simsched.graph.io import dump_graph, load_graph
from simsched.output.folder import MANIFEST
from simsched.page.bundle import LEFT_OUT, bundle
from simsched.page.document import page_document
from simsched.page.html import page_data
from simsched.page.live import answer
from simsched.page.server import SiteServer
from simsched.page.site import ARCHIVE, LIVE_FILES, Site, live_schedulers, site
from simsched.run import run
from simsched.schedulers.registry import BUILTIN
from tests.unit.test_layering import PACKAGE, core_closure

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def files() -> Site:
    scene = page_document([run("residual", "critical_path", "lanes:2")], live=True)
    return site(page_data(scene, live=LIVE_FILES))


# --- what is in it ------------------------------------------------------------------------------------------------


def test_pyodide_is_what_its_makers_publish() -> None:
    digest = hashlib.sha512(ARCHIVE.read_bytes()).digest()
    assert f"    sha512-{base64.b64encode(digest).decode()}\n" in ARCHIVE.with_name("README.md").read_text("utf-8")
    assert "Mozilla Public License" in ARCHIVE.with_name("LICENSE.MPL-2.0").read_text("utf-8")


def test_the_site_has_what_the_page_asks_for(files: Site) -> None:
    html = files["index.html"].decode()
    assert json.dumps(LIVE_FILES, separators=(",", ":")) in html
    assert LIVE_FILES["worker"] in files
    assert LIVE_FILES["bundle"] in files
    assert files[f"{LIVE_FILES['pyodide']}pyodide.asm.wasm"][:4] == b"\0asm"
    index = json.loads(files[f"{LIVE_FILES['catalogue']}index.json"])
    for kind in ("graphs", "hardware"):
        assert index[kind]
        for row in index[kind]:
            assert f"{LIVE_FILES['catalogue']}{row['file']}" in files
    sizes = {row["name"]: row["operators"] for row in index["graphs"]}
    assert (sizes["residual"], sizes["inception_v1"]) == (7, 143)
    assert {row["name"] for row in index["schedulers"]} == BUILTIN.keys() - {"follow", "optimal"}
    assert all(row["summary"].endswith(".") for row in index["schedulers"])


def test_every_graph_and_every_hardware_of_the_catalogue_can_be_run(files: Site) -> None:
    def read(path: str) -> Any:
        return json.loads(files[f"{LIVE_FILES['catalogue']}{path}"])

    index = read("index.json")
    cases = [(row["file"], "hardware/a100_sxm_80gb.json") for row in index["graphs"] if row["operators"] < 300]
    cases += [("graphs/squeezenet.json", row["file"]) for row in index["hardware"] if ":" not in row["name"]]
    cases += [("graphs/residual.json", row["file"]) for row in index["hardware"] if ":" in row["name"]]
    # It says how long operators take on p0, p1 and p2.
    fitting = {"graphs/heft_topcuoglu.json": "hardware/procs_3.json"}
    for graph, hardware in [(graph, fitting.get(graph, hardware)) for graph, hardware in cases]:
        problem = {"graph": read(graph), "hardware": read(hardware), "schedulers": [{"spec": "critical_path"}]}
        found = json.loads(answer(json.dumps({"kind": "run", "problem": problem})))
        assert found["ok"], (graph, hardware, found)
        assert found["document"]["runs"][0]["valid"]


def test_the_catalogue_holds_the_packages_own_whatever_lies_here(
    files: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "diamond.yaml").write_text("operators: [{name: other, duration: 1 us}]")
    monkeypatch.chdir(tmp_path)
    assert len(load_graph("diamond")) == 1
    diamond = json.loads(files["catalogue/graphs/diamond.json"])
    assert diamond == dump_graph(load_graph(packaged("graphs")["diamond"]))
    assert len(diamond["operators"]) == 4


def test_equal_input_makes_equal_bytes(files: Site) -> None:
    scene = page_document([run("residual", "critical_path", "lanes:2")], live=True)
    again = site(page_data(scene, live=LIVE_FILES))
    assert list(again) == list(files)
    assert all(again[path] == files[path] for path in files)


def test_the_bundle_holds_all_that_the_worker_imports() -> None:
    with zipfile.ZipFile(io.BytesIO(bundle())) as archive:
        names = archive.namelist()
        dates = {item.date_time for item in archive.infolist()}
        source = archive.read("simsched/page/live.py")
    assert source == (PACKAGE / "page" / "live.py").read_bytes()
    assert names == sorted(names)
    assert dates == {(1980, 1, 1, 0, 0, 0)}
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in names}
    assert {f"simsched.{name}".rstrip(".") for name in core_closure("page.live")} <= modules
    assert {target.partition(":")[0] for name, target in BUILTIN.items() if name != "optimal"} <= modules
    assert {"simpy", "yaml"} <= modules
    assert not any(part in LEFT_OUT for name in names for part in name.split("/"))
    licences = [name for name in names if name.startswith("licenses/")]
    assert len(licences) >= 2, "simpy and PyYAML come with theirs"


def test_a_checkout_that_is_not_installed_can_be_bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", missing)
    with zipfile.ZipFile(io.BytesIO(bundle.__wrapped__())) as archive:
        assert "simsched/page/live.py" in archive.namelist()


def test_schedulers_that_a_browser_cannot_run_are_not_offered() -> None:
    assert {each["name"] for each in live_schedulers()}.isdisjoint({"optimal", "follow"})


# --- the server ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(files: Site) -> Iterator[SiteServer]:
    with SiteServer(files, 0) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def get(server: SiteServer, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=20)
    connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response, data


def test_files_come_with_their_types(server: SiteServer, files: Site) -> None:
    expected = {
        "/": ("index.html", "text/html; charset=utf-8"),
        "/worker.js": ("worker.js", "text/javascript; charset=utf-8"),
        "/pyodide-314.0.7/pyodide.mjs": ("pyodide-314.0.7/pyodide.mjs", "text/javascript; charset=utf-8"),
        "/pyodide-314.0.7/pyodide.asm.wasm": ("pyodide-314.0.7/pyodide.asm.wasm", "application/wasm"),
        "/simsched.zip": ("simsched.zip", "application/zip"),
        "/catalogue/index.json?x=1": ("catalogue/index.json", "application/json; charset=utf-8"),
    }
    for path, (name, kind) in expected.items():
        response, data = get(server, path)
        assert (response.status, data == files[name]) == (200, True), path
        assert response.headers["Content-Type"] == kind
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        head, nothing = get(server, path, "HEAD")
        assert (head.status, nothing) == (200, b"")
        assert head.headers["Content-Length"] == response.headers["Content-Length"]


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/catalogue",
        "/catalogue/", "/pyodide-314.0.7/", "/simsched/page/live.py", "/%00", "/index.html%00.js", "/INDEX.HTML",
        "/./index.html", "/worker.js/", "http://127.0.0.1/../x", "//[/x", "/%ff", "/%", "/a" * 20_000,
    ],
)  # fmt: skip
def test_only_files_of_the_site_are_there(server: SiteServer, path: str) -> None:
    response, data = get(server, path)
    assert (response.status, data) == (404, b"there is no such file\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_sent(server: SiteServer, method: str) -> None:
    assert get(server, "/", method)[0].status == 501


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""])
def test_foreign_names_for_this_machine_are_refused(server: SiteServer, host: str) -> None:
    assert get(server, "/", Host=host)[0].status == 421
    assert get(server, "/", Host="localhost:1234")[0].status == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"\r\n", b"GET / HTTP/1.1\r\nHost: loc", bytes(range(256)), b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET /simsched.zip HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/9\r\n\r\n",
    ],
)  # fmt: skip
def test_of_readers_that_go_nothing_is_said(server: SiteServer, sent: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(5):
        gone = socket.create_connection(server.server_address)  # type: ignore[arg-type]
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset, not ended
        gone.sendall(sent)
        gone.close()
    assert get(server, "/worker.js")[0].status == 200
    assert capfd.readouterr() == ("", "")


def test_what_is_no_address_names_no_file(server: SiteServer, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_connection(server.server_address) as made:  # type: ignore[arg-type]
        made.sendall(b"GET http://[bad/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert made.recv(100).startswith(b"HTTP/1.1 404 ")
    assert capfd.readouterr() == ("", "")


def test_a_connection_on_which_nothing_happens_is_closed(
    server: SiteServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simsched.page.server._Handler.timeout", 0.2)
    with socket.create_connection(server.server_address) as silent:  # type: ignore[arg-type]
        silent.settimeout(20)
        silent.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        assert silent.recv(100) == b""
    assert capfd.readouterr() == ("", "")


def test_what_is_large_is_packed_for_those_who_take_it(server: SiteServer, files: Site) -> None:
    path = "pyodide-314.0.7/pyodide.asm.wasm"
    response, data = get(server, f"/{path}", Accept_Encoding="br, gzip;q=0.8")
    assert response.headers["Content-Encoding"] == "gzip"
    assert len(data) < len(files[path]) / 2
    assert gzip.decompress(data) == files[path]
    for refused in ("identity", "gzip;q=0", "", "xgzip"):
        response, data = get(server, f"/{path}", Accept_Encoding=refused)
        assert response.headers["Content-Encoding"] is None
        assert data == files[path]


def test_what_has_not_changed_is_not_sent_again(server: SiteServer) -> None:
    for path, rule in (("/", "no-cache"), ("/pyodide-314.0.7/pyodide.mjs", "max-age=31536000, immutable")):
        response, _ = get(server, path)
        assert response.headers["Cache-Control"] == rule
        again, data = get(server, path, If_None_Match=response.headers["ETag"])
        assert (again.status, data) == (304, b"")
        other, data = get(server, path, If_None_Match='"other"')
        assert other.status == 200
        assert data


def test_the_worker_may_ask_this_machine_only(server: SiteServer) -> None:
    """A scheduler from a link runs in the worker, and must not be able to tell anybody what it sees."""
    policy = get(server, "/worker.js")[0].headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "connect-src 'self'" in policy
    assert "http" not in policy


def test_only_this_machine_is_served(server: SiteServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}/"


def test_a_port_that_is_taken_is_said(server: SiteServer) -> None:
    taken = server.server_address[1]
    with pytest.raises(ConfigError, match=f"{taken}: address already in use; name another one"):
        SiteServer({}, taken)


def test_the_next_free_port_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr("simsched.page.server.FIRST_PORT", port)
        with SiteServer({}) as found:
            assert port < found.server_address[1] < port + 100


# --- the command --------------------------------------------------------------------------------------------------


def simsched(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "simsched", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


def test_serve_writes_a_site(tmp_path: Path) -> None:
    done = simsched("serve", "--write", "here", "--no-lessons", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "written to here" in done.stdout
    here = tmp_path / "here"
    listed = json.loads((here / MANIFEST).read_text())["files"]
    for name, digest in listed.items():
        assert hashlib.sha256((here / name).read_bytes()).hexdigest() == digest
    assert {"index.html", "worker.js", "simsched.zip", "catalogue/graphs/residual.json"} <= listed.keys()
    labels = ["topological", "critical_path", "greedy_ready", "memory_aware", "pipeline"]
    assert all(f'"label":"{label}"' in (here / "index.html").read_text() for label in labels)
    # Again over its own files, but not over those of somebody else.
    assert (
        simsched("serve", "diamond", "-H", "lanes:2", "--write", "here", "--no-lessons", cwd=tmp_path).returncode == 0
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    refused = simsched("serve", "--write", "other", cwd=tmp_path)
    assert refused.returncode == 2
    assert "was not written by simsched" in refused.stderr
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["mine.txt"]


def test_serve_writes_over_no_recorded_runs(tmp_path: Path) -> None:
    assert simsched("compare", "residual", "-H", "lanes:2", "-s", "serial", "-o", "runs", cwd=tmp_path).returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()}
    done = simsched("serve", "runs", "--write", "runs", "--no-lessons", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: runs: holds results of 'simsched compare', which would go; name a new or an empty folder\n"
    )
    assert {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()} == before


def test_serve_shows_recorded_runs_and_says_what_cannot_be_run_again(tmp_path: Path) -> None:
    assert simsched("compare", "residual", "-H", "lanes:2", "-o", "plain", cwd=tmp_path).returncode == 0
    noisy = ("compare", "residual", "-H", "lanes:2", "--noise", "0.2", "-o", "noisy")
    assert simsched(*noisy, cwd=tmp_path).returncode == 0
    done = simsched("serve", "plain", "--write", "one", "--no-lessons", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = simsched("serve", "noisy", "--write", "two", "--no-lessons", cwd=tmp_path)
    assert done.returncode == 0
    assert "noise" in done.stderr
    assert '"problem":null' in (tmp_path / "two" / "index.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--port", "70000"), "from 0 to 65535"),
        (("--write", "x", "--open"), "--write only writes files"),
        (("--write", "x", "--port", "1"), "--write only writes files"),
        (("--write", "missing", "nothing_of_this_name", "-H", "lanes:2"), "unknown graph 'nothing_of_this_name'"),
        (("--write", "missing/deep", "residual", "-H", "none"), "unknown hardware profile 'none'"),
        (("nothing_of_this_name",), "no hardware given"),
        (("residual", "diamond", "-H", "lanes:2"), "a page shows one graph"),
        (("residual", "-H", "lanes:2", "-s", "none"), "unknown scheduler 'none'"),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    done = simsched("serve", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals as posix has them")
def test_serve_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    command = [sys.executable, "-u", "-m", "simsched", "serve", "--no-lessons", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("serving http://127.0.0.1:"), line
        port = int(line.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/")
        assert b"<title>" in connection.getresponse().read()
        connection.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "\nended\n", "")
