"""Graphs and runs in notebooks: the page in a frame, or a table where the page would be too large to keep in a file."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from simsched.analysis.metrics import metrics
from simsched.graph.model import Graph
from simsched.page.document import page_document
from simsched.page.graph_part import graph_part
from simsched.page.html import page_data, page_html
from simsched.result import Comparison, Failure, Result
from simsched.units import format_duration, format_size, plural

LARGEST_RUNS = 600
"""Operators times runs that a notebook still shows as a page; every notebook that is saved keeps its pages."""
LARGEST_GRAPH = 600
"""Operators of a graph that a notebook still draws."""
HEIGHT = {Graph: 640, Result: 760, Comparison: 760}
SHOWN_TYPES = 12

UNPACKING = """<!doctype html><meta charset="utf-8"><noscript>This page needs JavaScript.</noscript><script>
(async () => {
  const packed = Uint8Array.from(atob("%s"), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const page = await new Response(stream).text();
  document.open();
  document.write(page);
  document.close();
})();
</script>"""


def notebook_html(shown: Graph | Result | Comparison) -> str:
    """Return the HTML that stands for an object in a notebook.

    Parameters
    ----------
    shown : Graph, Result or Comparison

    Returns
    -------
    str
        A frame with the page in it, which can do nothing to the notebook around it; or a table.
    """
    if isinstance(shown, Graph):
        return _graph_html(shown)
    runs: Sequence[Result] = (shown,) if isinstance(shown, Result) else shown.results
    failures = () if isinstance(shown, Result) else shown.failures
    if not runs or sum(len(run.trace) for run in runs) > LARGEST_RUNS:
        return runs_table(runs, failures)
    return framed(page_html(page_data(page_document(runs, failures=failures))), HEIGHT[type(shown)])


def framed(page: str, height: int) -> str:
    """Return a page inside a frame that may run its scripts and nothing else."""
    style = f"width:100%;height:{height}px;border:1px solid #8886;border-radius:6px"
    return f'<iframe srcdoc="{escape(packed(page))}" sandbox="allow-scripts" style="{style}" title="simsched"></iframe>'


def packed(page: str) -> str:
    """Return a short page that turns into a long one when it is opened; a notebook keeps a third of its size."""
    return UNPACKING % base64.b64encode(zlib.compress(page.encode(), 9)).decode()


def runs_table(runs: Sequence[Result], failures: Sequence[Failure] = ()) -> str:
    """Return the figures of runs, and how to make their page."""
    rows = [_run_row(run) for run in runs] + [(failure.label, failure.message) for failure in failures]
    head = ("scheduler", "makespan", "speed-up", "gap", "peak memory", "valid")
    graph = runs[0].problem.graph if runs else None
    if graph is None:
        return _table(head, rows)
    names = ",".join(run.label for run in runs)
    command = f"simsched page GRAPH --hardware {runs[0].problem.hardware.name} --schedulers {names} -o page.html"
    size = plural(len(graph), "operator")
    note = f"{graph.name} has {size}, too many for a page inside a notebook. A page of its own: "
    return _table(head, rows) + f"<p>{escape(note)}<code>{escape(command)}</code></p>"


def _run_row(run: Result) -> tuple[str, ...]:
    figures, unit = metrics(run), run.problem.graph.time_unit
    return (
        run.label,
        format_duration(run.makespan, unit),
        "" if figures.speedup is None else f"{figures.speedup:.2f}x",
        "" if figures.gap is None else f"{figures.gap:.1%}",
        format_size(max((use.peak for use in figures.memory), default=0)),
        {True: "yes", False: "no", None: "not checked"}[run.valid],
    )


def _graph_html(graph: Graph) -> str:
    if not 0 < len(graph) <= LARGEST_GRAPH:
        return graph_table(graph)
    scene: dict[str, Any] = {
        "title": graph.name,
        "graph": graph_part(graph),
        "machines": [],
        "runs": [],
        "failures": [],
        "problem": None,
    }
    return framed(page_html(page_data(scene)), HEIGHT[Graph])


def graph_table(graph: Graph) -> str:
    """Return what a graph consists of, as a table of its types of operators."""
    counts = sorted(Counter(graph.op_types).items(), key=lambda item: (-item[1], item[0]))
    rows = [(name, str(count)) for name, count in counts[:SHOWN_TYPES]]
    if len(counts) > SHOWN_TYPES:
        rows.append(("others", str(sum(count for _, count in counts[SHOWN_TYPES:]))))
    size = f"{plural(len(graph), 'operator')}, {plural(graph.edge_count, 'edge')}"
    return f"<p><b>{escape(graph.name)}</b>: {size}</p>" + _table(("type", "operators"), rows)


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
