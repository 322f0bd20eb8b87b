"""The keys that a pydantic type allows at a place, read from its core schema; for hints in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simsched.errors import PathKey

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Schemas that only wrap another one, and the key under which it lies.
_WRAPPED = ("schema", "lax_schema", "strict_schema", "python_schema")


def keys_at(adapter: TypeAdapter[Any], path: PathKey) -> list[str]:
    """Return the keys that may stand in the mapping at ``path``, in the order of their declaration.

    Parameters
    ----------
    adapter : pydantic.TypeAdapter
    path : tuple of str or int
        Place of the mapping in the data. Where a union allows several mappings, the keys of all are returned.
    """
    schema: Any = adapter.core_schema
    definitions = {each["ref"]: each for each in schema.get("definitions", ())}
    places = _unwrap(schema, definitions)
    for step in path:
        places = [inner for place in places for inner in _below(place, step, definitions)]
    return list(dict.fromkeys(key for place in places for key in _fields(place)))


def _fields(schema: Any) -> dict[str, Any]:
    """Keys of a mapping schema to the schemas of their values."""
    fields = schema.get("fields", {})
    if isinstance(fields, list):  # dataclass-args
        return {field.get("validation_alias", field["name"]): field["schema"] for field in fields}
    if schema["type"] not in ("typed-dict", "model-fields"):
        return {}
    return {_alias(field, name): field["schema"] for name, field in fields.items()}


def _alias(field: Any, name: str) -> str:
    alias = field.get("validation_alias", name)
    return alias if isinstance(alias, str) else name


def _below(schema: Any, step: str | int, definitions: dict[str, Any]) -> list[Any]:
    """Schemas, unwrapped, of the part of a value that ``step`` leads to."""
    fields = _fields(schema)
    if step in fields:
        return _unwrap(fields[str(step)], definitions)
    kind = schema["type"]
    if kind == "dict" and isinstance(step, str):
        return _unwrap(schema.get("values_schema", {"type": "any"}), definitions)
    if kind == "list" and isinstance(step, int):
        return _unwrap(schema.get("items_schema", {"type": "any"}), definitions)
    if kind == "tuple" and isinstance(step, int):
        items = schema["items_schema"]
        variadic = schema.get("variadic_item_index")
        if step < len(items):
            return _unwrap(items[step], definitions)
        return [] if variadic is None else _unwrap(items[variadic], definitions)
    return []


def _unwrap(schema: Any, definitions: dict[str, Any]) -> list[Any]:
    """Look through definitions, unions, defaults and validators, to the schemas that describe data."""
    open_schemas, found, seen = [schema], [], set()
    while open_schemas:
        each = open_schemas.pop(0)
        if each["type"] == "definition-ref":
            ref = each["schema_ref"]
            if ref not in seen:
                seen.add(ref)
                open_schemas.append(definitions[ref])
        elif each["type"] == "union":
            open_schemas += [choice[0] if isinstance(choice, tuple) else choice for choice in each["choices"]]
        elif each["type"] == "tagged-union":
            open_schemas += each["choices"].values()
        else:
            wrapped = [each[key] for key in _WRAPPED if isinstance(each.get(key), dict)]
            if wrapped:
                open_schemas += wrapped
            else:
                found.append(each)
    return found
