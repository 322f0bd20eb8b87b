"""Many small scripts joined into one: modules that keep a few rules need no bundler.

A module begins with its imports, each ``import { a, b } from "./x.js";``, and exports functions, constants and classes
where it declares them. No two modules declare the same name, and none imports itself in the end. Then the modules in
the order of their dependencies, without import lines and without the word ``export``, are one script that does the
same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simsched.errors import ConfigError, Fault
from simsched.page.js_text import depths, masked

_IMPORT = re.compile(r'import\s*\{((?:\s*[\w$]+\s*,)*\s*[\w$]+\s*,?\s*)\}\s*from\s*"\./([\w-]+\.js)";')
_WORDS = re.compile(r"(?<![\w$.])(?:export|async|function|const|let|var|class|import|await)\b")
_DECLARED = re.compile(r"(?:function\b\s*\*?|(?:const|let|var|class)\b)\s*([A-Za-z_$][\w$]*)")
_EXPORTABLE = re.compile(r"export\s+(?:(?:async\s+)?function\b|const\b|class\b)")
_ENDS_HTML = re.compile(r"</script|<!--", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Import:
    """Names that a module takes from another, and the line."""

    module: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Module:
    """One script.

    Attributes
    ----------
    name : str
        Of its file.
    imports : tuple of Import
    declared : mapping of str to int
        Names at its top, to their lines.
    exported : frozenset of str
    body : str
        What is left without imports and without the word ``export``.
    """

    name: str
    imports: tuple[Import, ...]
    declared: Mapping[str, int]
    exported: frozenset[str]
    body: str


def link_scripts(sources: Mapping[str, str], entry: str = "main.js") -> str:
    """Join a module and all that it imports, each after those that it imports.

    Parameters
    ----------
    sources : mapping of str to str
        File name to text; modules that ``entry`` does not reach are left out.
    entry : str

    Raises
    ------
    ConfigError
        If a module breaks the rules; it names the file and the line.
    """
    if entry not in sources:
        raise ConfigError(f"js/{entry}", [Fault("there is no such script")])
    modules: dict[str, Module] = {}
    todo = [entry]
    while todo:
        name = todo.pop()
        if name in sources and name not in modules:
            modules[name] = read_module(name, sources[name])
            todo += [one.module for one in modules[name].imports]
    _check(modules)
    return "".join(f"// {name}\n{modules[name].body.strip()}\n\n" for name in _in_order(modules, entry)).rstrip("\n")


def _check(modules: Mapping[str, Module]) -> None:
    """Refuse names that two modules declare, and imports of what is not there."""
    owners: dict[str, str] = {}
    for name, module in sorted(modules.items()):
        faults = [*_import_faults(module, modules)]
        for declared, line in module.declared.items():
            if declared in owners:
                faults.append(Fault(f"{declared!r} is declared in {owners[declared]} as well; rename it", line=line))
            owners.setdefault(declared, name)
        if faults:
            raise _error(name, faults)


def read_module(name: str, text: str) -> Module:
    """Read one module.

    Raises
    ------
    ConfigError
        If its imports or exports are of another form than the rules allow.
    """
    text = text.replace("\r\n", "\n")
    code = masked(text)
    imports, after, faults = _imports(text, code)
    declared: dict[str, int] = {}
    exported: set[str] = set()
    exports: list[tuple[int, int]] = []
    for word, at in _words_at_the_top(code, after):
        line = _line(text, at)
        message = _complaint(code, word, at)
        if message:
            faults.append(Fault(message, line=line))
        elif word == "export":
            exports.append((at, at + len(word)))
        elif word != "async":
            one = _DECLARED.match(code, at)
            assert one is not None
            declared[one[1]] = line
            if exports and not code[exports[-1][1] : at].replace("async", "").strip():
                exported.add(one[1])
    for found in _ENDS_HTML.finditer(text):
        message = f"{found[0]!r} would end the script in the page; write it in two strings"
        faults.append(Fault(message, line=_line(text, found.start())))
    if faults:
        raise _error(name, faults)
    return Module(name, tuple(imports), declared, frozenset(exported), _without(text, after, exports))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _words_at_the_top(code: str, after: int) -> Iterator[tuple[str, int]]:
    """Yield the words that import, export or declare outside of all brackets, and their places."""
    open_before = depths(code)
    for found in _WORDS.finditer(code, after):
        word, at = found[0], found.start()
        value = word in ("function", "class") and _is_expression(code, at)
        if not open_before[at] and not value and not code[found.end() :].lstrip().startswith(":"):
            yield word, at


def _complaint(code: str, word: str, at: int) -> str:
    """Why a word at the top breaks a rule; empty where it does not."""
    if word == "import":
        return 'imports stand at the top, as: import { a, b } from "./x.js";'
    if word == "await":
        return "await at the top of a module is not allowed; put it into a function"
    if word == "export":
        fits = _EXPORTABLE.match(code, at)
        return "" if fits else "only 'export function', 'export const' and 'export class' are allowed"
    if word == "async":
        return ""
    one = _DECLARED.match(code, at)
    if one is None or (word not in ("function", "class") and _goes_on(code, one.end())):
        return f"'{word}' at the top declares one plain name"
    return ""


def _imports(text: str, code: str) -> tuple[list[Import], int, list[Fault]]:
    """The imports at the top, where they end, and what is wrong with them."""
    found: list[Import] = []
    faults: list[Fault] = []
    at = 0
    while True:
        begin = len(code) - len(code[at:].lstrip())
        if not re.match(r"import\b(?!\s*[.(])", code[begin:]):
            return found, at, faults
        end = code.find(";", begin) + 1 or len(code)
        line = _line(text, begin)
        one = _IMPORT.fullmatch(text, begin, end)
        if one is None:
            faults.append(Fault('an import is written: import { a, b } from "./x.js";', line=line))
        else:
            names = tuple(name.strip() for name in one[1].split(",") if name.strip())
            found.append(Import(one[2], names, line))
        at = end


def _is_expression(code: str, at: int) -> bool:
    """Whether a function or a class is a value: the declaration before it, or an operator, takes it."""
    before = re.sub(r"(?:\b(?:export|async)\s*)+$", "", code[:at][-200:]).rstrip()
    return bool(before) and before[-1] not in ";}"


def _goes_on(code: str, at: int) -> bool:
    """Whether a declaration of variables goes on with another name after a comma."""
    depth = 0
    for found in re.finditer(r"[][(){};,]", code[at:]):
        if found[0] in "([{":
            depth += 1
        elif found[0] in ")]}":
            depth -= 1
        elif not depth:
            return found[0] == ","
    return False


def _without(text: str, after: int, words: Sequence[tuple[int, int]]) -> str:
    """The text behind the imports, without the words given by their places."""
    pieces, at = [], after
    for begin, end in words:
        pieces.append(text[at:begin])
        at = end + len(text[end:]) - len(text[end:].lstrip(" "))
    return "".join([*pieces, text[at:]])


def _import_faults(module: Module, modules: Mapping[str, Module]) -> Iterator[Fault]:
    for one in module.imports:
        if one.module not in modules:
            yield Fault(f"there is no script {one.module!r}", line=one.line)
            continue
        for name in one.names:
            if name not in modules[one.module].exported:
                yield Fault(f"{one.module} does not export {name!r}", line=one.line)


def _in_order(modules: Mapping[str, Module], entry: str) -> list[str]:
    """Names of a module and all that it imports, those that are imported first."""
    done: dict[str, None] = {}
    way: list[tuple[str, Iterator[Import]]] = [(entry, iter(modules[entry].imports))]
    while way:
        name, left = way[-1]
        following = next((one for one in left if one.module not in done), None)
        if following is None:
            done[name] = None
            way.pop()
            continue
        names = [each for each, _ in way]
        if following.module in names:
            circle = " -> ".join([*names[names.index(following.module) :], following.module])
            raise _error(name, [Fault(f"modules import each other: {circle}", line=following.line)])
        way.append((following.module, iter(modules[following.module].imports)))
    return list(done)


def _error(name: str, faults: Sequence[Fault]) -> ConfigError:
    placed = [Fault(fault.message, line=fault.line, column=1) for fault in faults]
    return ConfigError(f"js/{name}", sorted(placed, key=lambda fault: fault.line or 0))
