"""Malformed Graphviz files: what is wrong, the text, and the exact message."""

from __future__ import annotations

from tests.golden.case import Case


def dot(what: str, text: str, message: str, error: str = "ConfigError") -> Case:
    return Case(f"dot: {what}", text, message, error, "net.dot")


CASES = [
    dot("empty", "", "net.dot:1:1: expected 'digraph'; found the end of the file"),
    dot(
        "undirected",
        "graph { a -- b }",
        "net.dot:1:1: an undirected graph does not say which operator waits; write 'digraph', and '->' for edges",
    ),
    dot("an undirected edge", "digraph {\n  a -- b\n}", "net.dot:2:5: an edge of a digraph is written '->', not '--'"),
    dot("an arrow to nowhere", "digraph { a -> }", "net.dot:1:16: expected a node or a subgraph after '->'; found '}'"),
    dot("not closed", "digraph {\n  a -> b;\n", "net.dot:3:1: expected '}'; found the end of the file"),
    dot("a quote not closed", 'digraph { "a -> b; }', "net.dot:1:11: a quoted string is not closed"),
    dot("a comment not closed", "digraph { a /* b }", "net.dot:1:13: a comment is not closed"),
    dot(
        "html not closed",
        "digraph { a [label=<<b>c</b] }",
        "net.dot:1:20: an HTML string is not closed: each '<' needs its '>'",
    ),
    dot("a name with a dot", "digraph { conv1.weight -> b }", 'net.dot:1:11: write it in quotes: "conv1.weight"'),
    dot("a number with a unit", "digraph { a -> b [bytes=4MiB] }", 'net.dot:1:25: write it in quotes: "4MiB"'),
    dot(
        "a name with a slash",
        "digraph { a/b }",
        "net.dot:1:12: unexpected character '/'; a name with such characters is written in quotes",
    ),
    dot(
        "a keyword as a name",
        "digraph { a -> node }",
        "net.dot:1:16: expected a node or a subgraph after '->' (a keyword used as a name is written in quotes); "
        "found 'node'",
    ),
    dot("no attributes", "digraph { node }", "net.dot:1:16: expected '[' after 'node'; found '}'"),
    dot("no value", "digraph { a [duration=] }", "net.dot:1:23: expected a value for 'duration'; found ']'"),
    dot(
        "no equals sign",
        "digraph { a [duration 3] }",
        "net.dot:1:23: expected '=' and a value after attribute 'duration'; found '3'",
    ),
    dot(
        "two graphs",
        "digraph { a [duration=1] } digraph { b }",
        "net.dot:1:28: expected the end of the file after the graph (one graph a file); found 'digraph'",
    ),
    dot(
        "misspelt attributes",
        "digraph {\n  a [duratoin=3, op_type=Conv];\n  a -> b [Bytes=5];\n  b [duration=1];\n}",
        "net.dot: 2 problems\n"
        "  2:15: node 'a': unknown attribute 'duratoin'; did you mean 'duration'?\n"
        "  3:17: edge 'a' -> 'b': unknown attribute 'Bytes'; did you mean 'bytes'?",
    ),
    dot(
        "values",
        'digraph {\n  a [duration=x]; b [duration=-2]; c [duration=2.5]; d [duration=1, demands="sms"];\n'
        '  a -> b [bytes="4 Mib"];\n}',
        "net.dot: 5 problems\n"
        "  2:15: node 'a': duration: 'x' is not a number with a unit\n"
        "  2:31: node 'b': duration: a duration cannot be negative: '-2'\n"
        "  2:48: node 'c': duration: '2.5' is not a whole number of ticks\n"
        "  2:77: node 'd': demands: expected 'name=value, name=value', got 'sms'\n"
        "  3:17: edge 'a' -> 'b': bytes: unknown unit 'Mib' in '4 Mib'; "
        "expected one of: B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB",
    ),
    dot(
        "one node without a cost",
        "digraph { a [duration=2]; a -> b }",
        "net.dot:1:32: node 'b' has neither duration nor op_type; "
        "write one, or a default for all nodes: node [duration=1]",
    ),
    dot(
        "units among plain numbers",
        'digraph { a [duration="2 us"]; b [duration=3] }',
        "net.dot:1:44: node 'b': duration: '3' has no unit; write '3 us' or '3 ms'",
    ),
    dot(
        "units among ticks",
        'digraph { time_unit=tick; a [duration="2 us"] }',
        "net.dot:1:39: node 'a': duration: '2 us' has a unit, but the graph counts in ticks; "
        "write a plain number, or say time_unit=ns, us, ms or s",
    ),
    dot(
        "a time unit that does not exist",
        "digraph { time_unit=secs; a [duration=2] }",
        "net.dot:1:21: graph: time_unit: unknown time unit 'secs'; expected one of: tick, ns, us, ms, s",
    ),
    dot(
        "a tensor of two makers",
        "digraph { node [duration=1]; a -> c [tensor=t, bytes=3]; b -> c [tensor=t, bytes=3] }",
        "net.dot:1:73: edge 'b' -> 'c': tensor 't' leaves 'a' and 'b'; a tensor has one producer",
    ),
    dot(
        "a cycle",
        "digraph {\n  a -> b -> c;\n  c -> a;\n}",
        "net.dot:2:5: the graph has a cycle: a -> b -> c -> a\n  2:5: a -> b\n  2:10: b -> c\n  3:5: c -> a",
        "GraphError",
    ),
]
