"""Well-formed files that are no graph: what is wrong, the text, and the exact message."""

from __future__ import annotations

from tests.golden.case import Case

CASES = [
    Case("a list instead of a mapping", "- name: a\n", "graph.yaml:1:1: expected a mapping, got a list"),
    Case("no operators", "name: x\nedges: []\n", "graph.yaml:1:1: operators: this key is missing"),
    Case("operators are nothing", "operators:\n", "graph.yaml:1:11: operators: expected a list, got nothing"),
    Case(
        "operators as a mapping",
        "operators:\n  a: {duration: 2 us}\n",
        "graph.yaml:2:3: operators: expected a list, got a mapping",
    ),
    Case(
        "misspelt keys",
        "operator:\n  - {name: a}\noperators:\n  - {name: a, optype: Conv, durations: 2 us}\n",
        "graph.yaml: 3 problems\n"
        "  1:1  operator: unknown key; did you mean 'operators'?\n"
        "  4:15  operators[0].optype: unknown key; did you mean 'op_type'?\n"
        "  4:29  operators[0].durations: unknown key; did you mean 'duration'?",
    ),
    Case(
        "missing name",
        "operators:\n  - {duration: 2 us}\n  - {name: ~, duration: 2 us}\n",
        "graph.yaml: 2 problems\n"
        "  2:5  operators[0].name: this key is missing\n"
        "  3:12  operators[1].name: expected text, got nothing",
    ),
    Case(
        "name is a list",
        "operators:\n  - {name: [a]}\n  - {name: true}\n  - {name: ''}\n",
        "graph.yaml: 3 problems\n"
        "  2:12  operators[0].name: expected text, got a list\n"
        "  3:12  operators[1].name: expected text, got true; write 'true' in quotes\n"
        "  4:12  operators[2].name: expected text, got an empty one",
    ),
    Case(
        "no unit",
        "operators:\n  - {name: a, duration: 5}\n  - {name: b, duration: '5'}\n",
        "graph.yaml: 2 problems\n"
        "  2:25  operators[0].duration: '5' has no unit; write '5 us', or 'time_unit: us' for the whole "
        "file\n"
        "  3:25  operators[1].duration: '5' has no unit; write '5 us' or '5 ms'",
    ),
    Case(
        "unknown unit",
        "operators:\n  - {name: a, duration: 5 sec}\n",
        "graph.yaml:2:25: operators[0].duration: unknown unit 'sec' in '5 sec'; expected one of: ns, us, µs, μs, ms, s",
    ),
    Case(
        "unknown time unit",
        "time_unit: usec\noperators:\n  - {name: a, duration: 5}\n",
        "graph.yaml:1:12: time_unit: 'usec' is not a choice here; did you mean 'us'?",
    ),
    Case(
        "negative duration",
        "time_unit: us\noperators:\n  - {name: a, duration: -5}\n  - {name: b, duration: -1 us}\n",
        "graph.yaml: 2 problems\n"
        "  3:25  operators[0].duration: a duration cannot be negative: -5\n"
        "  4:25  operators[1].duration: a duration cannot be negative: '-1 us'",
    ),
    Case(
        "duration is text",
        "operators:\n"
        "  - {name: a, duration: long}\n"
        "  - {name: b, duration: true}\n"
        "  - {name: c, duration: [1, 2]}\n"
        "  - {name: d, duration: {}}\n",
        "graph.yaml: 4 problems\n"
        "  2:25  operators[0].duration: 'long' is not a number with a unit; write for example '2.6 us'\n"
        "  3:25  operators[1].duration: expected a quantity such as '2.6 us', got true\n"
        "  4:25  operators[2].duration: expected a quantity such as '2.6 us', got a list\n"
        "  5:25  operators[3].duration: expected a duration for at least one device, got none",
    ),
    Case(
        "half a tick",
        "time_unit: tick\noperators:\n  - {name: a, duration: 1.5}\n  - {name: b, duration: 2 us}\n",
        "graph.yaml: 2 problems\n"
        "  3:25  operators[0].duration: 1.5 is not a whole number of ticks\n"
        "  4:25  operators[1].duration: '2 us' has a unit, but the graph counts in ticks; write a plain "
        "number, or say time_unit=ns, us, ms or s",
    ),
    Case(
        "too long",
        "time_unit: s\noperators:\n  - {name: a, duration: 1e9}\n",
        "graph.yaml:3:25: operators[0].duration: 1000000000.0 is too long; expected at most 10**15 ns",
    ),
    Case(
        "device durations",
        "time_unit: us\noperators:\n  - {name: a, duration: {gpu: 2, cpu: fast}}\n",
        "graph.yaml:3:25: operators[0].duration: on device 'cpu': 'fast' is not a number with a unit; write "
        "for example '2.6 us'",
    ),
    Case(
        "MACs as flops",
        "operators:\n  - {name: a, flops: 2 GMAC}\n  - {name: b, macs: 2 GFLOP}\n  - {name: c, flops: 2, macs: 1}\n",
        "graph.yaml: 2 problems\n"
        "  2:22  operators[0].flops: '2 GMAC' counts multiply-adds; write it under 'macs', or twice the "
        "number here\n"
        "  3:21  operators[1].macs: '2 GFLOP' counts operations, two in each multiply-add; write it under "
        "'flops'",
    ),
    Case(
        "flops and macs",
        "operators:\n  - {name: a, flops: 2, macs: 1}\n",
        "graph.yaml:2:31: operators[0].macs: give 'flops' or 'macs', not both",
        error="GraphError",
    ),
    Case(
        "bad sizes",
        "operators:\n  - {name: a, bytes: 4 Mib, workspace: -1}\n",
        "graph.yaml: 2 problems\n"
        "  2:22  operators[0].bytes: unknown unit 'Mib' in '4 Mib'; expected one of: B, kB, KB, MB, GB, TB, "
        "KiB, MiB, GiB, TiB\n"
        "  2:40  operators[0].workspace: a size cannot be negative: -1",
    ),
    Case(
        "bad demands",
        "operators:\n  - {name: a, demands: {sms: 1.5, tensor_units: -2}}\n  - {name: b, demands: [sms]}\n",
        "graph.yaml: 3 problems\n"
        "  2:30  operators[0].demands.sms: expected a whole number, got 1.5\n"
        "  2:49  operators[0].demands.tensor_units: expected at least 0, got -2\n"
        "  3:24  operators[1].demands: expected a mapping, got a list",
    ),
    Case(
        "after is text",
        "operators:\n  - {name: a}\n  - {name: b, after: a}\n",
        "graph.yaml:3:22: operators[1].after: expected a list, got 'a'; write [a]",
    ),
    Case(
        "bad edges",
        "operators:\n"
        "  - {name: a}\n"
        "  - {name: b}\n"
        "edges:\n"
        "  - [a]\n"
        "  - a -> b\n"
        "  - {from: a, target: b}\n"
        "  - {from: a, to: b, bytes: 2 us}\n",
        "graph.yaml: 5 problems\n"
        "  5:5  edges[0]: an edge is [from, to], or {from: ..., to: ..., bytes: ..., delay: ...}\n"
        "  6:5  edges[1]: an edge is [from, to], or {from: ..., to: ..., bytes: ..., delay: ...}\n"
        "  7:5  edges[2].to: this key is missing\n"
        "  7:15  edges[2].target: unknown key; expected one of: from, to, bytes, delay\n"
        "  8:29  edges[3].bytes: unknown unit 'us' in '2 us'; expected one of: B, kB, KB, MB, GB, TB, KiB, "
        "MiB, GiB, TiB",
    ),
    Case(
        "edges as a mapping",
        "operators: [{name: a}, {name: b}]\nedges: {a: b}\n",
        "graph.yaml:2:8: edges: expected a list, got a mapping",
    ),
    Case(
        "duplicate operator",
        "time_unit: us\n"
        "operators:\n"
        "  - {name: conv1, duration: 2}\n"
        "  - {name: conv2, duration: 3}\n"
        "  - {name: conv1, duration: 5}\n",
        "graph.yaml:5:12: operators[2].name: operator 'conv1' is declared twice\n"
        "  3:12  operators[0].name: first declared here",
        error="GraphError",
    ),
    Case(
        "unknown operator",
        "operators:\n"
        "  - {name: conv1, duration: 2 us}\n"
        "  - {name: conv2, duration: 3 us, after: [cnv1]}\n"
        "edges:\n"
        "  - [conv1, conv3]\n"
        "  - {from: Conv2, to: conv1}\n",
        "graph.yaml: 3 problems\n"
        "  3:43  operators[1].after[0]: operator 'conv2' comes after unknown operator 'cnv1'; did you mean "
        "'conv1'?\n"
        "  5:13  edges[0][1]: edge 'conv1' -> 'conv3': no operator 'conv3'; did you mean 'conv2'?\n"
        "  6:12  edges[1].from: edge 'Conv2' -> 'conv1': no operator 'Conv2'; did you mean 'conv2'?",
        error="GraphError",
    ),
    Case(
        "unknown tensor",
        "tensors:\n"
        "  - {name: image, bytes: 8}\n"
        "operators:\n"
        "  - {name: a, duration: 2 us, inputs: [imge], outputs: [y]}\n",
        "graph.yaml:4:40: operators[0].inputs[0]: operator 'a' reads unknown tensor 'imge'; did you mean 'image'?",
        error="GraphError",
    ),
    Case(
        "two producers",
        "operators:\n  - {name: a, duration: 2 us, outputs: [y]}\n  - {name: b, duration: 2 us, outputs: [y]}\n",
        "graph.yaml:3:41: operators[1].outputs[0]: tensor 'y' is already produced by 'a'; a tensor has one producer",
        error="GraphError",
    ),
    Case(
        "produced parameter",
        "tensors:\n  - {name: w, bytes: 8, kind: parameter}\noperators:\n  - {name: a, duration: 2 us, outputs: [w]}\n",
        "graph.yaml:4:41: operators[0].outputs[0]: tensor 'w' is declared as parameter; no operator may produce it",
        error="GraphError",
    ),
    Case(
        "output of nobody",
        "tensors:\n  - {name: y, bytes: 8, kind: output}\noperators:\n  - {name: a, duration: 2 us}\n",
        "graph.yaml:2:5: tensors[0]: output 'y' is not produced by any operator",
        error="GraphError",
    ),
    Case(
        "bad tensors",
        "tensors:\n"
        "  - {name: x, shape: [1, 3]}\n"
        "  - {name: y, shape: [1, -3], dtype: fp32}\n"
        "  - {name: z, shape: [1], dtype: fp23, kind: weight}\n"
        "operators: []\n",
        "graph.yaml: 2 problems\n"
        "  3:26  tensors[1].shape[1]: expected at least 0, got -3\n"
        "  4:46  tensors[2].kind: 'weight' is not a choice here; expected one of: activation, input, "
        "parameter, output",
    ),
    Case(
        "tensor sizes",
        "tensors:\n"
        "  - {name: x, shape: [1, 3]}\n"
        "  - {name: z, shape: [1], dtype: fp23}\n"
        "  - {name: x, bytes: 2}\n"
        "operators: []\n",
        "graph.yaml: 3 problems\n"
        "  2:5  tensors[0]: tensor 'x' needs 'bytes', or both 'shape' and 'dtype'\n"
        "  3:34  tensors[1].dtype: unknown dtype 'fp23'; did you mean 'fp32'?\n"
        "  4:12  tensors[2].name: tensor 'x' is declared twice\n"
        "    2:12  tensors[0].name: first declared here",
        error="GraphError",
    ),
    Case(
        "cycle of edges",
        "time_unit: us\n"
        "operators:\n"
        "  - {name: a, duration: 2}\n"
        "  - {name: b, duration: 3}\n"
        "  - {name: c, duration: 5}\n"
        "edges:\n"
        "  - [a, b]\n"
        "  - [b, c]\n"
        "  - [c, a]\n",
        "graph.yaml:7:5: edges[0]: the graph has a cycle: a -> b -> c -> a\n"
        "  7:5  edges[0]: a -> b\n"
        "  8:5  edges[1]: b -> c\n"
        "  9:5  edges[2]: c -> a",
        error="GraphError",
    ),
    Case(
        "cycle of all kinds",
        "time_unit: us\n"
        "operators:\n"
        "  - {name: a, duration: 2, inputs: [t], outputs: [s]}\n"
        "  - {name: b, duration: 3, inputs: [s], reads: [buffer]}\n"
        "  - {name: c, duration: 5, writes: [buffer]}\n"
        "  - {name: d, duration: 7, after: [c], outputs: [t]}\n",
        "graph.yaml:4:37: operators[1].inputs[0]: the graph has a cycle: a -> b -> c -> d -> a\n"
        "  4:37  operators[1].inputs[0]: a -> b, through tensor 's'\n"
        "  5:37  operators[2].writes[0]: b -> c, through buffer 'buffer'\n"
        "  6:36  operators[3].after[0]: c -> d\n"
        "  3:37  operators[0].inputs[0]: d -> a, through tensor 't'",
        error="GraphError",
    ),
    Case(
        "shortest of two cycles",
        "time_unit: us\n"
        "operators:\n"
        "  - {name: a, duration: 2}\n"
        "  - {name: b, duration: 3}\n"
        "  - {name: c, duration: 5}\n"
        "  - {name: d, duration: 7}\n"
        "edges:\n"
        "  - [a, b]\n"
        "  - [b, c]\n"
        "  - [c, d]\n"
        "  - [d, a]\n"
        "  - [d, c]\n",
        "graph.yaml:10:5: edges[2]: the graph has a cycle: c -> d -> c\n"
        "  10:5  edges[2]: c -> d\n"
        "  12:5  edges[4]: d -> c",
        error="GraphError",
    ),
    Case(
        "self loop",
        "operators:\n  - {name: a, duration: 2 us, after: [a]}\n",
        "graph.yaml:2:39: operators[0].after[0]: the graph has a cycle: a -> a\n  2:39  operators[0].after[0]: a -> a",
        error="GraphError",
    ),
    Case(
        "newer format",
        "simsched: 2\noperators: []\n",
        "graph.yaml:1:11: simsched: format 2 is not known; this simsched reads format 1",
    ),
    Case(
        "profile instead of graph",
        "name: toy\ndevices:\n  - {name: d0, streams: 4}\n",
        "graph.yaml: 2 problems\n"
        "  1:1  operators: this key is missing\n"
        "  2:1  devices: unknown key; expected one of: simsched, name, description, source, time_unit, "
        "operators, tensors, edges, native, notes",
    ),
    Case(
        "JSON misspelt key",
        '{"operators": [\n  {"name": "a", "duration": "2 us"},\n  {"name": "b", "duraton": "3 us"}]}',
        "graph.json:3:17: operators[1].duraton: unknown key; did you mean 'duration'?",
        file="graph.json",
    ),
    Case(
        "JSON unknown operator",
        '{"operators": [\n  {"name": "a", "duration": "2 us"}],\n "edges": [["a", "b"]]}',
        "graph.json:3:18: edges[0][1]: edge 'a' -> 'b': no operator 'b'; expected one of: a",
        error="GraphError",
        file="graph.json",
    ),
    Case(
        "JSON cycle",
        '{"operators": [{"name": "a"}, {"name": "b"}],\n "edges": [["a", "b"],\n           ["b", "a"]]}',
        "graph.json:2:12: edges[0]: the graph has a cycle: a -> b -> a\n"
        "  2:12  edges[0]: a -> b\n"
        "  3:12  edges[1]: b -> a",
        error="GraphError",
        file="graph.json",
    ),
    Case(
        "JSON deep",
        '{"operators": [{"name": "a", "attributes": {"x": ' + "[" * 60 + "]" * 60 + "}}]}",
        "graph.json:1:44: operators[0].attributes: nested more than 50 levels deep",
        file="graph.json",
    ),
]
