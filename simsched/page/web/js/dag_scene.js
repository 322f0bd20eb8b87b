// What a drawing of the graph is made of: items (operators, or groups of them), their edges and neighbours, critical ones.

import { routesByEdge } from "./dag_shape.js";
import { neighbours, neighboursByEdges } from "./neighbours.js";

const KIND_DATA = 1;
const KIND_CONTROL = 2;
const KIND_ORDER = 4;
/** By kind of edge: the name of its colour. @type {Record<string, string>} */
export const EDGE_COLOURS = { data: "edge", control: "edge-control", order: "edge-order" };
/** Names of kinds of edges, as classes and test ids have them. */
const EDGE_KINDS = [
  { name: "data", bit: KIND_DATA },
  { name: "control", bit: KIND_CONTROL },
  { name: "order", bit: KIND_ORDER },
];

/**
 * @typedef {object} Scene
 * @property {number} count
 * @property {string[]} names
 * @property {Layout} layout
 * @property {[number, number, number][]} edges Source, target, kinds.
 * @property {Map<number, number[]>} routes
 * @property {number[][]} before Predecessors of each item.
 * @property {number[][]} after Successors.
 * @property {number[][] | null} members Operators of each group; null where items are operators.
 */

/** @param {GraphPart} graph @returns {Scene} */
export function sceneOf(graph) {
  const { groups } = graph;
  const { names, layout } = groups ?? graph;
  /** @type {[number, number, number][]} */
  const edges = groups ? groups.edges.map(([source, target]) => [source, target, KIND_DATA]) : graph.edges;
  const { pred: before, succ: after } = groups ? neighboursByEdges(names.length, edges) : neighbours(graph);
  return { count: names.length, names, layout, edges, routes: routesByEdge(layout), before, after, members: groups ? membersOf(groups) : null };
}

/** @param {Groups} groups */
function membersOf(groups) {
  const members = /** @type {number[][]} */ (groups.names.map(() => []));
  groups.of.forEach((group, op) => members[group].push(op));
  return members;
}

/** The item of an operator. @param {GraphPart} graph @param {Op} op */
export function itemOf(graph, op) {
  return graph.groups ? graph.groups.of[op] : op;
}

/** The kind that an edge is drawn as: where it has several, data first. @param {number} kinds */
export function drawnKind(kinds) {
  return EDGE_KINDS.find(({ bit }) => kinds & bit)?.name ?? "data";
}

/** Kinds of edges that occur. @param {GraphPart} graph */
export function kindsThatOccur(graph) {
  const drawn = new Set(graph.edges.map((edge) => drawnKind(edge[2])));
  return EDGE_KINDS.filter(({ name }) => drawn.has(name)).map(({ name }) => name);
}

/**
 * Edges of the longest paths, as indices: both ends have no slack, and the target can start when the source ends.
 * @param {GraphPart} graph @param {Machine} machine
 */
export function criticalEdges(graph, machine) {
  const { duration, slack } = machine;
  const earliest = new Float64Array(duration.length);
  // Numbers of operators are topological, and edges are sorted by their sources.
  for (const [source, target] of graph.edges) earliest[target] = Math.max(earliest[target], earliest[source] + duration[source]);
  const found = new Set();
  graph.edges.forEach(([source, target], index) => {
    if (!slack[source] && !slack[target] && earliest[source] + duration[source] === earliest[target]) found.add(index);
  });
  return found;
}

/** Pairs of operators that follow each other on a path. @param {Op[]} path @returns {[Op, Op][]} */
export function pairsOf(path) {
  return path.slice(1).map((op, index) => [path[index], op]);
}

/** Where an arrow key leads from an item: along edges in the direction of the levels, else within the level; -1 is nowhere. @param {Scene} scene @param {boolean} sideways @param {number} item @param {string} key */
export function itemByKey(scene, sideways, item, key) {
  const { layout } = scene;
  const forward = sideways ? "ArrowRight" : "ArrowDown";
  const back = sideways ? "ArrowLeft" : "ArrowUp";
  if (key === forward || key === back) return nearestItem(layout, item, key === forward ? scene.after[item] : scene.before[item]);
  const side = key === (sideways ? "ArrowDown" : "ArrowRight") ? 1 : -1;
  let found = -1;
  for (let other = 0; other < scene.count; other += 1) {
    const away = (layout.x[other] - layout.x[item]) * side;
    if (layout.level[other] === layout.level[item] && away > 0 && (found < 0 || away < (layout.x[found] - layout.x[item]) * side)) found = other;
  }
  return found;
}

/** @param {Layout} layout @param {number} item @param {number[]} others */
function nearestItem(layout, item, others) {
  const distance = (/** @type {number} */ other) => Math.abs(layout.x[other] - layout.x[item]) + Math.abs(layout.level[other] - layout.level[item]);
  return others.reduce((best, other) => (best < 0 || distance(other) < distance(best) ? other : best), -1);
}

/** The item whose box holds a point of the drawing; -1 is none. @param {import("./dag_shape.js").Shape} shape @param {number} x @param {number} y @param {number} slack */
export function itemAt(shape, x, y, slack) {
  const [halfWidth, halfHeight] = [shape.box.width / 2 + slack, shape.box.height / 2 + slack];
  let found = -1;
  let least = Infinity;
  for (let item = 0; item < shape.x.length; item += 1) {
    const [dx, dy] = [Math.abs(shape.x[item] - x), Math.abs(shape.y[item] - y)];
    if (dx <= halfWidth && dy <= halfHeight && dx + dy < least) [found, least] = [item, dx + dy];
  }
  return found;
}
