"""Validated values from a document: what pydantic finds wrong, located and said in the words of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from simsched.config.document import Document, located
from simsched.errors import Fault, PathKey, suggest

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

# What a value should have been, by the type of pydantic's complaint that it is not.
_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
    "none_required": "nothing",
}
_LIMITS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def validate(document: Document, adapter: TypeAdapter[T], context: Any = None) -> T:
    """Check a document against a pydantic type and return the value.

    Parameters
    ----------
    document : Document
    adapter : pydantic.TypeAdapter
        Of a type that forbids unknown keys. Strict types are advised: text is then never read as a number.
    context : object, optional
        What the type's own validators see as ``info.context``.

    Raises
    ------
    ConfigError
        With every fault of the document, its place, and the nearest valid key for unknown ones.
    """
    from pydantic import ValidationError

    try:
        return adapter.validate_python(document.data, context=context)
    except ValidationError as error:
        found = error.errors(include_url=False)
    faults = _Reporter(document, adapter).report([(tuple(each["loc"]), each) for each in found], document.data, ())
    raise located(document, faults)


class _Reporter:
    """Turns pydantic's errors into faults: one per place, with the branches of unions folded into one."""

    def __init__(self, document: Document, adapter: TypeAdapter[Any]) -> None:
        self.document = document
        self.adapter = adapter

    def report(self, errors: list[tuple[tuple[Any, ...], Any]], data: Any, path: PathKey) -> list[Fault]:
        """Return the faults at and below ``path``, where ``data`` stands; each error's location starts there."""
        faults: list[Fault] = []
        below: dict[str | int, list[tuple[tuple[Any, ...], Any]]] = {}
        branches: dict[Any, list[tuple[tuple[Any, ...], Any]]] = {}
        for location, error in errors:
            if not location:
                faults.append(self._fault(error, path))
            elif location[-1] == "[key]" and len(location) == 2:
                faults.append(self._fault(error, (*path, location[0])))
            elif _has(data, location[0]) or (len(location) == 1 and error["type"] == "missing"):
                below.setdefault(location[0], []).append((location[1:], error))
            else:
                branches.setdefault(location[0], []).append((location[1:], error))
        for step, inside in below.items():
            part = data[step] if _has(data, step) else None
            faults += self.report(inside, part, (*path, step))
        if branches:
            faults += self._report_union(list(branches.values()), data, path)
        return faults

    def _report_union(self, branches: list[list[tuple[tuple[Any, ...], Any]]], data: Any, path: PathKey) -> list[Fault]:
        """Report the branch that the value was meant for, or, if it has the shape of none, what was expected."""
        fitting = [branch for branch in branches if not _wrong_shape(branch)]
        if fitting:
            return self.report(min(fitting, key=len), data, path)
        wanted = dict.fromkeys(_WANTED.get(branch[0][1]["type"], "one of a few words") for branch in branches)
        return [Fault(f"expected {_either(list(wanted))}, got {shown(data)}", path)]

    def _fault(self, error: Any, path: PathKey) -> Fault:
        kind, value, context = error["type"], error["input"], error.get("ctx", {})
        if kind == "missing":
            return Fault("this key is missing", path)
        if kind in ("extra_forbidden", "unexpected_keyword_argument"):
            from simsched.config.fields import keys_at

            position = self.document.locate(path, key=True) or (None, None)
            hint = suggest(str(path[-1]), keys_at(self.adapter, path[:-1]))
            return Fault(f"unknown key; {hint}", path, *position)
        return Fault(_message(kind, value, context, error["msg"]), path)


def _message(kind: str, value: Any, context: dict[str, Any], text: str) -> str:
    if kind == "string_type" and isinstance(value, (int, float)):
        return f"expected text, got {shown(value)}; write '{shown(value)}' in quotes"
    if kind == "list_type" and isinstance(value, str):
        return f"expected a list, got {shown(value)}; write [{value}]"
    if kind in _WANTED:
        return f"expected {_WANTED[kind]}, got {shown(value)}"
    if kind in _LIMITS:
        words, limit = _LIMITS[kind]
        return f"expected {words} {context[limit]}, got {shown(value)}"
    if kind in ("literal_error", "enum"):
        choices = [choice.strip("'") for choice in str(context["expected"]).replace(" or ", ", ").split(", ")]
        hint = suggest(value, choices) if isinstance(value, str) else f"expected one of: {', '.join(choices)}"
        return f"{shown(value)} is not a choice here; {hint}"
    if kind in ("too_short", "too_long"):
        limit = "at least" if kind == "too_short" else "at most"
        count = context["min_length" if kind == "too_short" else "max_length"]
        return f"expected {limit} {count} items, got {context['actual_length']}"
    if kind == "string_too_short":
        return "expected text, got an empty one"
    if kind == "finite_number":
        return f"expected a finite number, got {shown(value)}"
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    return text[:1].lower() + text[1:]


def shown(value: Any) -> str:
    """Name a value in a message: short text and numbers as they are, mappings and lists by their kind.

    Examples
    --------
    >>> shown({"a": 1}), shown(None), shown("conv"), shown(True)
    ('a mapping', 'nothing', "'conv'", 'true')
    """
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value) if isinstance(value, (int, float)) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _has(data: Any, step: Any) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, (list, tuple)) and isinstance(step, int) and 0 <= step < len(data)


def _wrong_shape(branch: list[tuple[tuple[Any, ...], Any]]) -> bool:
    """Whether the value has not even the form that a branch describes, as a list has not where one word may stand."""
    if len(branch) != 1 or branch[0][0]:
        return False
    error = branch[0][1]
    return error["type"] in _WANTED or (error["type"] == "literal_error" and not isinstance(error["input"], str))
