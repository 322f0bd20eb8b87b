"""The DOT language: text to nodes and edges with their attributes, and where each was written.

This reads the language of graphviz.org/doc/info/lang.html: ``strict``, attribute lists, default attributes (which
hold for what is first mentioned after them, and are inherited by subgraphs), chains ``a -> b -> c``, subgraphs as
ends of edges, quoted and joined strings, HTML strings, ports and comments. What the attributes mean is decided in
:mod:`simsched.graph.dot`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from simsched.graph.dot_tokens import Token, tokens
from simsched.graph.textfile import Reading, Word

DEEPEST = 100
"""How deep subgraphs may be nested; drawings use two or three levels."""

Attributes = dict[str, Word]


@dataclass(slots=True)
class DotNode:
    """A node with its attributes, at the place where it is first mentioned."""

    word: Word
    attributes: Attributes


@dataclass(slots=True)
class DotEdge:
    """An edge with its attributes, at the place of the arrow."""

    source: str
    target: str
    word: Word
    attributes: Attributes


@dataclass(slots=True)
class DotGraph:
    """What a DOT text says."""

    name: str = ""
    strict: bool = False
    attributes: Attributes = field(default_factory=dict)
    nodes: dict[str, DotNode] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)


def parse(text: str, source: str) -> DotGraph:
    """Parse one digraph.

    Raises
    ------
    ConfigError
        At the first place where the text leaves the language, or if the graph is undirected.
    """
    return _Parser(text, source).graph()


@dataclass(slots=True)
class _Scope:
    """Default attributes inside one pair of braces, and the nodes mentioned there, in order."""

    node: Attributes = field(default_factory=dict)
    edge: Attributes = field(default_factory=dict)
    mentioned: dict[str, None] = field(default_factory=dict)

    def inner(self, mentioned: dict[str, None]) -> _Scope:
        return _Scope(dict(self.node), dict(self.edge), mentioned)


class _Parser:
    """Recursive descent over the tokens; ``token`` is the one to be read next."""

    def __init__(self, text: str, source: str) -> None:
        self.reading = Reading(source)
        self._tokens = tokens(text, self.reading)
        self.token = next(self._tokens)
        self.result = DotGraph()
        self._subgraphs: dict[str, dict[str, None]] = {}
        self._strict_edges: dict[tuple[str, str], DotEdge] = {}

    # --- helpers --------------------------------------------------------------------------------------------

    def _advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.token = next(self._tokens)
        return token

    def _at(self, mark: str) -> bool:
        return self.token.kind == "mark" and self.token.word.text == mark

    def _skip(self, mark: str) -> bool:
        if self._at(mark):
            self._advance()
            return True
        return False

    def _expect(self, mark: str, why: str) -> None:
        if not self._skip(mark):
            self._unexpected(f"{mark!r} {why}")

    def _unexpected(self, expected: str) -> NoReturn:
        self.reading.stop(f"expected {expected}; found {self.token}", self.token.word)

    def _identifier(self, what: str) -> Word:
        """Read a name; quoted strings may be joined by ``+``."""
        if not self.token.is_id:
            hint = " (a keyword used as a name is written in quotes)" if self.token.keyword else ""
            self._unexpected(f"{what}{hint}")
        first = self._advance()
        text = first.word.text
        while first.kind == "quoted" and self._skip("+"):
            if self.token.kind != "quoted":
                self._unexpected("a quoted string after '+'")
            text += self._advance().word.text
        return Word(text, *first.word.place)

    # --- grammar --------------------------------------------------------------------------------------------

    def graph(self) -> DotGraph:
        result = self.result
        if self.token.keyword == "strict":
            result.strict = True
            self._advance()
        if self.token.keyword == "graph":
            rule = "an undirected graph does not say which operator waits; write 'digraph', and '->' for edges"
            self.reading.stop(rule, self.token.word)
        if self.token.keyword != "digraph":
            self._unexpected("'digraph'")
        self._advance()
        if not self._at("{"):
            result.name = self._identifier("the graph's name or '{'").text
        scope = _Scope()
        self._body(scope, 0)
        if self.token.kind != "end":
            self._unexpected("the end of the file after the graph (one graph a file)")
        return result

    def _body(self, scope: _Scope, depth: int) -> None:
        if depth > DEEPEST:
            self.reading.stop(f"subgraphs are nested deeper than {DEEPEST}", self.token.word)
        self._expect("{", "before the statements")
        while not self._skip("}"):
            if self.token.kind == "end":
                self._unexpected("'}'")
            self._statement(scope, depth)
            self._skip(";")

    def _statement(self, scope: _Scope, depth: int) -> None:
        keyword = self.token.keyword
        if keyword in ("graph", "node", "edge"):
            self._defaults(keyword, scope, depth)
            return
        if keyword == "subgraph" or self._at("{"):
            self._edges(self._subgraph(scope, depth), scope, depth)
            return
        word = self._identifier("a node, an edge, a subgraph or '}'")
        if self._skip("="):
            value = self._identifier(f"a value for {word.text!r}")
            if depth == 0:
                self.result.attributes[word.text] = value
            return
        self._port()
        node = self._node(word, scope)
        if self.token.kind == "arrow":
            self._edges([word.text], scope, depth)
        elif self._at("["):
            node.attributes.update(self._attribute_list())

    def _defaults(self, keyword: str, scope: _Scope, depth: int) -> None:
        self._advance()
        if not self._at("["):
            self._unexpected(f"'[' after {keyword!r}")
        attributes = self._attribute_list()
        if keyword == "node":
            scope.node.update(attributes)
        elif keyword == "edge":
            scope.edge.update(attributes)
        elif depth == 0:
            self.result.attributes.update(attributes)

    def _attribute_list(self) -> Attributes:
        attributes: Attributes = {}
        while self._skip("["):
            while not self._skip("]"):
                key = self._identifier("an attribute or ']'")
                self._expect("=", f"and a value after attribute {key.text!r}")
                attributes[key.text] = self._identifier(f"a value for {key.text!r}")
                if not self._skip(","):
                    self._skip(";")
        return attributes

    def _port(self) -> None:
        """Read over ``:port`` and ``:compass``, which say only where an arrow touches its node."""
        while self._skip(":"):
            self._identifier("a port")

    def _subgraph(self, scope: _Scope, depth: int) -> list[str]:
        name = ""
        if self.token.keyword == "subgraph":
            self._advance()
            if not self._at("{"):
                name = self._identifier("the subgraph's name or '{'").text
        # A subgraph that is opened again by its name goes on where it was left.
        mentioned = self._subgraphs.setdefault(name, {}) if name else {}
        self._body(scope.inner(mentioned), depth + 1)
        scope.mentioned.update(mentioned)
        return list(mentioned)

    def _node(self, word: Word, scope: _Scope) -> DotNode:
        scope.mentioned[word.text] = None
        node = self.result.nodes.get(word.text)
        if node is None:
            node = self.result.nodes[word.text] = DotNode(word, dict(scope.node))
        return node

    def _edges(self, first: list[str], scope: _Scope, depth: int) -> None:
        """Read the rest of a chain of edges after its first end."""
        chain = [first]
        arrows: list[Word] = []
        while self.token.kind == "arrow":
            if self.token.word.text == "--":
                self.reading.stop("an edge of a digraph is written '->', not '--'", self.token.word)
            arrows.append(self._advance().word)
            chain.append(self._edge_end(scope, depth))
        if not arrows:
            return
        attributes = {**scope.edge, **(self._attribute_list() if self._at("[") else {})}
        for sources, targets, arrow in zip(chain, chain[1:], arrows, strict=False):
            for source in sources:
                for target in targets:
                    self._edge(DotEdge(source, target, arrow, dict(attributes)))

    def _edge_end(self, scope: _Scope, depth: int) -> list[str]:
        if self.token.keyword == "subgraph" or self._at("{"):
            return self._subgraph(scope, depth)
        word = self._identifier("a node or a subgraph after '->'")
        self._port()
        self._node(word, scope)
        return [word.text]

    def _edge(self, edge: DotEdge) -> None:
        """Add an edge; in a strict graph a second one between the same nodes only adds attributes."""
        if self.result.strict:
            first = self._strict_edges.setdefault((edge.source, edge.target), edge)
            if first is not edge:
                first.attributes.update(edge.attributes)
                return
        self.result.edges.append(edge)
