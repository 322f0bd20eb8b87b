"""Graph files that are not well-formed YAML or JSON: what is wrong, the text, and the exact message."""

from __future__ import annotations

from tests.golden.case import Case

CASES = [
    Case("empty file", "", "graph.yaml: the file is empty"),
    Case("only comments", "# nothing yet\n", "graph.yaml: the file is empty"),
    Case("tab", "operators:\n\t- {name: a}\n", "graph.yaml:2:1: a tab cannot indent YAML; use spaces"),
    Case(
        "unclosed list",
        "operators: [{name: a}\nedges: []\n",
        "graph.yaml:2:1: expected ',' or ']' in the list that begins on line 1",
    ),
    Case("unclosed quote", 'operators:\n  - {name: "a}\n', "graph.yaml:2:12: the quote that opens here is not closed"),
    Case(
        "bad indentation",
        "operators:\n  - name: a\n   duration: 2 us\n",
        "graph.yaml:3:4: expected '- ' of the next item; check the indentation",
    ),
    Case(
        "colon in text",
        "description: Conv: the first\noperators: []\n",
        "graph.yaml:1:18: unexpected ':'; check the indentation, or quote text that holds ': '",
    ),
    Case(
        "percent", "operators:\n  - {name: %a}\n", "graph.yaml:2:12: text cannot begin with '%' here; put it in quotes"
    ),
    Case(
        "two documents",
        "operators: []\n---\noperators: []\n",
        "graph.yaml:2:1: a second document starts here; expected only one",
    ),
    Case(
        "duplicate key",
        "time_unit: us\noperators:\n  - {name: a, duration: 2, duration: 3}\ntime_unit: ms\n",
        "graph.yaml: 2 problems\n"
        "  3:28  operators[0].duration: given twice (first on line 3)\n"
        "  4:1  time_unit: given twice (first on line 1)",
    ),
    Case(
        "unknown alias",
        "operators:\n  - {<<: *conv, name: a}\n",
        "graph.yaml:2:10: operators[0].<<: no anchor &conv before this alias",
    ),
    Case(
        "alias in itself",
        "operators: &all\n  - {name: a, attributes: {of: *all}}\n",
        "graph.yaml:2:32: operators[0].attributes.of: this alias stands inside its own anchor",
    ),
    Case(
        "merge of a number",
        "operators:\n  - {<<: 7, name: a}\n",
        "graph.yaml:2:6: '<<' merges a mapping, or a list of mappings",
    ),
    Case(
        "tag",
        "operators:\n  - {name: !new a}\n",
        "graph.yaml:2:12: operators[0].name: the tag '!new' is not supported; write plain YAML",
    ),
    Case("control character", "operators:\n  - {name: a\x07}\n", "graph.yaml:2:13: character U+0007 is not allowed"),
    Case(
        "list as key", "operators:\n  - {[a]: b}\n", "graph.yaml:2:6: a key must be plain text, not a list or a mapping"
    ),
    Case(
        "duration not finite",
        "time_unit: us\n"
        "operators:\n"
        "  - {name: a, duration: .nan}\n"
        "  - {name: b, duration: -.inf}\n"
        "  - {name: c, duration: 1e999}\n",
        "graph.yaml: 3 problems\n"
        "  3:25  operators[0].duration: .nan is not a finite number; quote it if it is text\n"
        "  4:25  operators[1].duration: -.inf is not a finite number; quote it if it is text\n"
        "  5:25  operators[2].duration: 1e999 is too large for a number",
    ),
    Case(
        "JSON trailing comma",
        '{"operators": [{"name": "a"},]}',
        "graph.json:1:30: JSON allows no comma before ']'",
        file="graph.json",
    ),
    Case(
        "JSON cut off",
        '{"operators": [{"name": "a"}',
        "graph.json:1:29: the file ends too early; expected ',' or the end of the list or mapping",
        file="graph.json",
    ),
    Case(
        "JSON NaN",
        '{"time_unit": "us",\n "operators": [{"name": "a", "duration": NaN}]}',
        "graph.json:2:42: NaN is not a finite number",
        file="graph.json",
    ),
    Case(
        "JSON too large a number",
        '{"operators": [{"name": "a", "duration": 1e400}]}',
        "graph.json:1:42: 1e400 is too large for a number",
        file="graph.json",
    ),
    Case(
        "JSON duplicate key",
        '{"operators": [\n  {"name": "a",\n   "duration": "2 us", "duration": "3 us"}]}',
        "graph.json:3:24: operators[0].duration: given twice (first on line 3)",
        file="graph.json",
    ),
    Case("JSON unquoted key", "{operators: []}", "graph.json:1:2: expected a key in double quotes", file="graph.json"),
    Case(
        "JSON half a character",
        '{"operators": [{"name": "\\ud800"}]}',
        "graph.json:1:25: an escape in this text is half of a character",
        file="graph.json",
    ),
    Case(
        "JSON text after the end",
        '{"operators": []} {}',
        "graph.json:1:19: text after the end of the document",
        file="graph.json",
    ),
]
