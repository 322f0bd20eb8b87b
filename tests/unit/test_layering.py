"""Who may import whom, how large files and functions may grow, and what the core loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "simsched"

# Lower layers first. A module imports from its own layer and from those below it.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"collector", "colours", "display", "errors", "units", "_version"}),
    frozenset({"config", "data", "sharing"}),
    frozenset({"graph", "hardware"}),
    frozenset({"cost"}),
    frozenset({"profiles"}),
    frozenset({"eligibility", "problem"}),
    frozenset({"schedule", "trace", "trace_form", "noise"}),
    frozenset({"schedulers", "engine", "analysis"}),
    frozenset({"exact"}),
    frozenset({"result"}),
    frozenset({"plot", "testing", "timing", "portfolio"}),
    frozenset({"placement"}),
    frozenset({"run", "scenario"}),
    frozenset({"whatif", "sensitivity", "advice"}),
    frozenset({"output"}),
    frozenset({"page"}),
    frozenset({"experiment", "study"}),
    frozenset({"identify"}),
    frozenset({"", "cli", "__main__"}),
)

# Closer rules than the layers: the left side never imports the right one.
NEVER: tuple[tuple[str, str], ...] = (
    ("schedulers", "engine"),
    ("schedulers", "analysis"),
    ("engine", "schedulers"),
    ("engine", "analysis"),
    ("analysis", "engine"),
    ("analysis", "schedulers"),
    ("result", "engine"),
    ("plot", "run"),
    ("output.chrome", "run"),
)
# The one file of the schedulers that the engine may know: the protocol between the two.
EXCEPTIONS = frozenset({("engine", "schedulers.base")})
# To read a graph strictly is to ask the rules of cost whether they know its operators; asked only then.
UPWARD = frozenset({("graph.onnx_import", "cost.registry"), ("graph.io", "cost.registry")})

# Libraries beside the standard one: the modules that may import them, anywhere in their text.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "simpy": ("engine.clock",),
    "yaml": ("config",),
    "typing_extensions": ("graph.schema",),  # comes with pydantic, which wants its TypedDict before Python 3.12
    "pydantic": ("output.recorded", "config", "graph.schema", "profiles", "experiment"),
    "numpy": ("plot", "analysis", "graph.generators", "schedulers.random", "study.bootstrap"),
    "networkx": ("graph.nx", "graph.nx_edges", "graph.nx_writer"),
    "matplotlib": ("plot",),
    "rich": ("cli",),
    "click": ("cli",),
    "onnx": ("graph.onnx_import",),
    "ortools": ("exact",),
}
CORE_LIBRARIES = frozenset({"simpy", "yaml"})

LONGEST_FILE = 400
LONGEST_FUNCTION = 60


@dataclass(frozen=True)
class Import:
    """One imported module: by which module, on which line, at its import or later, and for type checkers alone."""

    importer: str
    line: int
    target: str
    at_import: bool
    for_types: bool = False

    def __str__(self) -> str:
        return f"simsched/{self.importer.replace('.', '/')}.py:{self.line} imports {self.target}"


def module_name(path: Path, package: Path = PACKAGE) -> str:
    """``graph.model`` for ``simsched/graph/model.py``; ``graph`` for its ``__init__``; ``""`` for the package."""
    parts = list(path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def targets_of(node: ast.AST, known: frozenset[str]) -> Iterator[str]:
    """Full names of what one import statement loads; ``from x import y`` is ``x.y`` when that is a module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are written out in full, without leading dots"
        base = node.module or ""
        for alias in node.names:
            longer = f"{base}.{alias.name}"
            yield longer if longer.removeprefix("simsched.") in known else base


def imports_of(text: str, importer: str, known: frozenset[str] = frozenset()) -> list[Import]:
    """Every import of one source text, those inside functions too, those for type checkers marked as later."""
    found: list[Import] = []

    def visit(node: ast.AST, at_import: bool, for_types: bool) -> None:
        for child in ast.iter_child_nodes(node):
            line = getattr(child, "lineno", 0)
            found.extend(Import(importer, line, target, at_import, for_types) for target in targets_of(child, known))
            types = for_types or is_type_checking(child)
            later = types or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            visit(child, at_import and not later, types)

    visit(ast.parse(text), True, False)
    return found


def sources() -> dict[str, Path]:
    return {module_name(path): path for path in sorted(PACKAGE.rglob("*.py")) if "_data" not in path.parts}


@cache
def all_imports() -> list[Import]:
    files = sources()
    known = frozenset(files)
    return [item for name, path in files.items() for item in imports_of(path.read_text("utf-8"), name, known)]


def inside(module: str, area: str) -> bool:
    return module == area or module.startswith(f"{area}.")


def layer_of(module: str) -> int:
    top = module.partition(".")[0]
    for number, names in enumerate(LAYERS):
        if top in names:
            return number
    raise AssertionError(f"simsched/{top} has no layer; give it one in tests/unit/test_layering.py")


def complaint(item: Import) -> str | None:
    """Why an import breaks the rules, or None."""
    top = item.target.split(".")[0]
    if top == "simsched":
        return complaint_inside(item, item.target.removeprefix("simsched").removeprefix("."))
    if top in LIBRARIES:
        allowed = LIBRARIES[top]
        if not any(inside(item.importer, area) for area in allowed):
            return f"{item}; only {', '.join(allowed)} may"
        return None
    return None if top in sys.stdlib_module_names else f"{item}, which is not a dependency of the project"


def complaint_inside(item: Import, target: str) -> str | None:
    if layer_of(target) > layer_of(item.importer) and (item.importer, target, item.at_import) not in {
        (importer, allowed, False) for importer, allowed in UPWARD
    }:
        return f"{item}, which is a layer above it"
    for importer, forbidden in NEVER:
        if inside(item.importer, importer) and inside(target, forbidden) and (importer, target) not in EXCEPTIONS:
            return f"{item}; {importer} never imports {forbidden}"
    return None


def core_closure(start: str = "") -> set[str]:
    """Modules of the package that importing one of them loads at once, itself included."""
    edges: dict[str, set[str]] = {}
    for item in all_imports():
        if item.at_import and item.target.split(".")[0] == "simsched":
            target = item.target.removeprefix("simsched").removeprefix(".")
            parents = {target.rsplit(".", count)[0] for count in range(1, target.count(".") + 1)}
            edges.setdefault(item.importer, set()).update({target} | parents)
    seen, todo = {start}, [start]
    while todo:
        for target in edges.get(todo.pop(), set()) - seen:
            seen.add(target)
            todo.append(target)
    return seen


def test_every_import_obeys_the_table() -> None:
    assert [text for text in map(complaint, all_imports()) if text] == []


def circles(imports: list[Import]) -> list[str]:
    """Modules that import each other in the end, inside functions too; imports for type checkers alone do not count."""
    after: dict[str, set[str]] = {}
    for item in imports:
        if item.target.startswith("simsched."):
            after.setdefault(item.importer, set()).add(item.target.removeprefix("simsched."))
    found = []
    for module in sorted(after):
        seen, todo = set(), [module]
        while todo:
            for target in after.get(todo.pop(), set()) - seen:
                seen.add(target)
                todo.append(target)
        if module in seen:
            found.append(module)
    return found


def test_no_modules_import_each_other() -> None:
    assert circles([item for item in all_imports() if not item.for_types]) == []


def test_a_circle_is_found() -> None:
    known = frozenset(sources())
    planted = imports_of("def f():\n    from simsched.schedule import Schedule", "errors", known)
    assert set(circles([*(item for item in all_imports() if not item.for_types), *planted])) >= {"errors", "schedule"}


@pytest.mark.parametrize(
    ("importer", "line", "expected"),
    [
        ("schedulers.planted", "from simsched.engine.simulator import simulate", "schedulers never imports engine"),
        ("engine.planted", "from simsched.schedulers.serial import Serial", "engine never imports schedulers"),
        ("analysis.planted", "import simsched.engine.simulator", "analysis never imports engine"),
        ("graph.planted", "from simsched.problem import Problem", "which is a layer above it"),
        ("errors", "from simsched import config", "which is a layer above it"),
        ("engine.memory", "import simpy", "only engine.clock may"),
        ("graph.model", "import numpy as np", "only plot,"),
        ("problem", "def f():\n    import pandas", "not a dependency"),
    ],
)
def test_a_planted_violation_is_found(importer: str, line: str, expected: str) -> None:
    (item,) = imports_of(line, importer, frozenset(sources()))
    text = complaint(item)
    assert text is not None
    assert expected in text


@pytest.mark.parametrize(
    ("importer", "line"),
    [
        ("engine.planted", "from simsched.schedulers.base import Policy"),
        ("plot.planted", "def draw():\n    import matplotlib"),
        ("cli.planted", "from simsched.engine.simulator import simulate"),
        ("errors", "import difflib"),
    ],
)
def test_a_lawful_import_passes(importer: str, line: str) -> None:
    (item,) = imports_of(line, importer, frozenset(sources()))
    assert complaint(item) is None


def test_imports_inside_functions_and_for_type_checkers_count_as_later() -> None:
    text = "import a\nif TYPE_CHECKING:\n    import b\nclass K:\n    import c\n    def f(self):\n        import d\n"
    assert [(item.target, item.at_import) for item in imports_of(text, "x")] == [
        ("a", True),
        ("b", False),
        ("c", True),
        ("d", False),
    ]


def test_the_core_loads_no_heavy_library_at_import() -> None:
    core = core_closure() | core_closure("engine.simulator") | core_closure("analysis.check")
    heavy = [
        str(item)
        for item in all_imports()
        if item.at_import and item.importer in core and item.target.split(".")[0] in LIBRARIES.keys() - CORE_LIBRARIES
    ]
    assert heavy == []
    assert {"graph.model", "problem", "trace"} <= core, "the closure must follow the imports of the package"


@pytest.mark.parametrize("start", ["page.document", "page.live", "config.plain"])
def test_what_a_browser_runs_imports_only_the_core(start: str) -> None:
    """What is loaded at once; in the page's own modules, what functions import, too. The rest is tried below."""
    core = core_closure(start)
    foreign = [
        str(item)
        for item in all_imports()
        if item.importer in core and item.at_import and item.target.split(".")[0] in LIBRARIES.keys() - CORE_LIBRARIES
    ]
    assert foreign == []
    pages = [item for item in all_imports() if inside(item.importer, "page") and item.importer in core]
    assert [str(item) for item in pages if item.target.split(".")[0] in LIBRARIES.keys() - {"simpy", "yaml"}] == []
    assert start in core


HEAVY = ("numpy", "networkx", "matplotlib", "rich", "click", "onnx", "ortools", "pandas")


def modules_after(code: str) -> set[str]:
    """Top-level names in ``sys.modules`` after running ``code`` in a fresh interpreter."""
    script = code + "\nimport sys\nprint('\\n'.join(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_simsched_loads_only_the_core() -> None:
    loaded = modules_after("import simsched")
    assert loaded.isdisjoint({*HEAVY, "pydantic"})


def test_a_whole_run_from_files_loads_only_the_core_and_pydantic() -> None:
    loaded = modules_after(
        "import simsched\n"
        "result = simsched.run('residual', hardware='toy_4sm', scheduler='critical_path')\n"
        "assert result.valid is True\n"
        "assert simsched.metrics(result).makespan == result.makespan > 0"
    )
    assert {"simpy", "yaml", "simsched"} <= loaded
    assert loaded.isdisjoint(HEAVY)


def test_a_live_run_loads_only_the_core() -> None:
    """Everything that a browser does: rebuild a graph and hardware, run schedulers, and make the document."""
    loaded = modules_after(
        "import json\n"
        "from simsched.page.live import WARM_UP, answer\n"
        "operators = [{'name': name, 'duration': 3} for name in 'ab']\n"
        "graph = {'simsched': 1, 'name': 'g', 'time_unit': 'tick', 'operators': operators, 'edges': [['a', 'b']]}\n"
        "hardware = {'name': 'h', 'devices': [{'name': 'd', 'streams': 2}]}\n"
        "problem = {'graph': graph, 'hardware': hardware, 'memory': 'unbounded', 'seed': 0}\n"
        "problem['schedulers'] = [{'spec': spec} for spec in WARM_UP]\n"
        "found = json.loads(answer(json.dumps({'kind': 'run', 'problem': problem, 'edits': {}})))\n"
        "assert found['ok'], found\n"
        "assert [run['makespan'] for run in found['document']['runs']] == [6] * 5"
    )
    assert {"simpy", "simsched"} <= loaded
    assert loaded.isdisjoint({*HEAVY, "pydantic"})


def test_help_loads_neither_numpy_nor_matplotlib_nor_networkx() -> None:
    loaded = modules_after("import sys\nsys.argv = ['simsched', '--help']\nimport simsched.cli")
    assert loaded.isdisjoint({"numpy", "networkx", "matplotlib", "onnx", "pydantic", "simpy"})


def python_files() -> list[Path]:
    folders = ("simsched", "examples", "benchmarks", "scripts", "tests", "experiments")
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def test_no_file_is_longer_than_the_hard_limit() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in python_files()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}


def lines_of(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def long_functions(text: str) -> dict[str, int]:
    """Lines of each function over the limit; its docstring does not count."""
    sizes = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = lines_of(node) - (lines_of(node.body[0]) if ast.get_docstring(node) else 0)
            if lines > LONGEST_FUNCTION:
                sizes[f"{node.name}:{node.lineno}"] = lines
    return sizes


def test_no_function_of_the_package_is_longer_than_the_hard_limit() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{name}": lines
        for path in python_files()
        if path.is_relative_to(PACKAGE)
        for name, lines in long_functions(path.read_text("utf-8")).items()
    }
    assert long == {}


def test_a_long_function_is_found() -> None:
    body = '    """Say\n    something."""\n' + "\n".join(f"    x = {number}" for number in range(LONGEST_FUNCTION))
    assert long_functions(f"def f():\n{body}\n") == {"f:1": LONGEST_FUNCTION + 1}
