// Who comes before and after whom in a graph, looked up once.

/** @typedef {{ pred: Op[][], succ: Op[][] }} Neighbours */

/** @type {WeakMap<GraphPart, Neighbours>} */
const neighboursOfGraphs = new WeakMap();

/** Predecessors and successors of every operator, ascending. @param {GraphPart} graph @returns {Neighbours} */
export function neighbours(graph) {
  let found = neighboursOfGraphs.get(graph);
  if (!found) {
    found = neighboursByEdges(graph.names.length, graph.edges);
    neighboursOfGraphs.set(graph, found);
  }
  return found;
}

/** The same by edges that are sorted. @param {number} count Of nodes. @param {[number, number, number][]} edges @returns {Neighbours} */
export function neighboursByEdges(count, edges) {
  const [pred, succ] = [0, 1].map(() => Array.from({ length: count }, () => /** @type {number[]} */ ([])));
  for (const [source, target] of edges) {
    succ[source].push(target);
    pred[target].push(source);
  }
  return { pred, succ };
}

/** Lengths of longest paths by the durations that they are of. @type {WeakMap<Time[], Time>} */
const longestPathsOfDurations = new WeakMap();

/** Length of the longest path. @param {GraphPart} graph @param {Time[]} duration */
export function longestPath(graph, duration) {
  const known = longestPathsOfDurations.get(duration);
  if (known !== undefined) return known;
  const length = longestPathWithout(graph, duration, -1);
  longestPathsOfDurations.set(duration, length);
  return length;
}

/** Length of the longest path if one operator took no time. @param {GraphPart} graph @param {Time[]} duration @param {Op} op */
export function longestPathWithout(graph, duration, op) {
  const { pred } = neighbours(graph);
  const end = new Float64Array(duration.length);
  let longest = 0;
  // Numbers of operators are topological.
  for (let each = 0; each < end.length; each += 1) {
    let start = 0;
    for (const before of pred[each]) if (end[before] > start) start = end[before];
    end[each] = start + (each === op ? 0 : duration[each]);
    if (end[each] > longest) longest = end[each];
  }
  return longest;
}
