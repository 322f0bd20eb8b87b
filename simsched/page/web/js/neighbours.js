// Who comes before and after whom in a graph, looked up once.

/** @typedef {{ pred: Op[][], succ: Op[][], order: Op[] }} Neighbours `order` is a topological one. */

/** @type {WeakMap<GraphPart, Neighbours>} */
const neighboursOfGraphs = new WeakMap();

/** Predecessors and successors of every operator, ascending. @param {GraphPart} graph @returns {Neighbours} */
export function neighbours(graph) {
  let found = neighboursOfGraphs.get(graph);
  if (!found) {
    found = lookNeighboursUp(graph);
    neighboursOfGraphs.set(graph, found);
  }
  return found;
}

/** @param {GraphPart} graph @returns {Neighbours} */
function lookNeighboursUp(graph) {
  const pred = graph.names.map(() => /** @type {Op[]} */ ([]));
  const succ = graph.names.map(() => /** @type {Op[]} */ ([]));
  for (const [source, target] of graph.edges) {
    succ[source].push(target);
    pred[target].push(source);
  }
  for (const list of [...pred, ...succ]) list.sort((a, b) => a - b);
  const missing = pred.map((list) => list.length);
  const order = missing.flatMap((count, op) => (count ? [] : [op]));
  for (let place = 0; place < order.length; place += 1) {
    for (const after of succ[order[place]]) if ((missing[after] -= 1) === 0) order.push(after);
  }
  return { pred, succ, order };
}

/** Lengths of longest paths by the durations that they are of. @type {WeakMap<Time[], Time>} */
const longestPathsOfDurations = new WeakMap();

/** Length of the longest path. @param {GraphPart} graph @param {Time[]} duration */
export function longestPath(graph, duration) {
  const known = longestPathsOfDurations.get(duration);
  if (known !== undefined) return known;
  const length = longestPathWith(graph, duration, -1, 0);
  longestPathsOfDurations.set(duration, length);
  return length;
}

/** Length of the longest path where one operator took another time. @param {GraphPart} graph @param {Time[]} duration @param {Op} op @param {Time} own */
export function longestPathWith(graph, duration, op, own) {
  const { pred, order } = neighbours(graph);
  const end = new Float64Array(duration.length);
  let longest = 0;
  for (const each of order) {
    let start = 0;
    for (const before of pred[each]) if (end[before] > start) start = end[before];
    end[each] = start + (each === op ? own : duration[each]);
    if (end[each] > longest) longest = end[each];
  }
  return longest;
}
