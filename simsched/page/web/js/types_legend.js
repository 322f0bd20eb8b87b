// Which fills stand for which types of operators.

import { t } from "./words.js";

/** The fill of all types that have none of their own. */
const SHARED_FILL = 8;
/** So many of them are named; more are only counted. */
const SHARED_NAMED = 3;

/** Fills and the types that have them; those without a fill of their own are named together. @param {GraphPart} graph @returns {[number, string][]} */
export function typesByFill(graph) {
  const all = graph.types.map((name, type) => /** @type {[number, string]} */ ([graph.fills[type], name]));
  const own = all.filter(([fill]) => fill !== SHARED_FILL).sort(([a], [b]) => a - b);
  const others = all.filter(([fill]) => fill === SHARED_FILL).map(([, name]) => name);
  if (!others.length) return own;
  return [...own, [SHARED_FILL, others.length > SHARED_NAMED ? t("other_types", { count: others.length }) : others.join(", ")]];
}
