// Up to when curves are told: within an instant, they are those before it.

/**
 * Curves know an instant only as a whole. As long as something of it has not happened to a run, their values are those
 * just before; times are whole numbers, so half of one is just before.
 * @param {import("./replay.js").Replay} replay
 * @param {number} time
 */
export function settledTime({ events, position }, time) {
  return position < events.length && events.time[position] <= time ? time - 0.5 : time;
}
