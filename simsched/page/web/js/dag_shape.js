// From levels to places on the drawing: boxes of a size, levels that run downwards or to the right, folded into strips
// like the columns of a newspaper where that makes boxes larger; and the ways of edges.

const GAP_BETWEEN_LEVELS = 30;
const GAP_WITHIN_LEVEL = 16;
const STRIP_GUTTER = 46;
const WAYPOINT_ROOM = 0.2;
const MOST_STRETCH = 0.8;
const MOST_STRIPS = 24;
const SHORTEST_STRIP = 5;
/** How much larger boxes must become for one more strip, or for levels that run to the right. */
const STRIP_WORTH_IT = 1.12;
/** Room before the first and after the last level of a strip, where edges turn. */
const STRIP_TURN = 16;

/** @typedef {{ width: number, height: number }} Size */

/**
 * @typedef {object} Shape
 * @property {boolean} sideways Levels run to the right.
 * @property {number} strips
 * @property {number} length Levels of a strip.
 * @property {Size} box
 * @property {Size} size Of the whole drawing.
 * @property {Float64Array} x Middles of boxes.
 * @property {Float64Array} y
 * @property {(x: number, level: number) => [number, number]} place Across and along the strip's direction.
 * @property {number[]} gutters Across, before each strip.
 * @property {number} halfBox Half a box along the levels.
 * @property {number} step From level to level.
 */

/** What takes a way: a canvas, a Path2D, or `SvgWay`. @typedef {Pick<Path2D, "moveTo" | "lineTo" | "bezierCurveTo">} Way */

/** How much smaller a drawing may become for boxes that are better to read. */
const WORTH_READING = 0.9;

/** The arrangement that shows boxes largest in a room, with the first of the sizes of boxes that takes little from that. @param {Layout} layout @param {Size[]} boxes @param {Size} room @returns {Shape} */
export function arrange(layout, boxes, room) {
  const plans = boxes.map((box) => bestStripPlan(layout, box, room));
  const largest = Math.max(...plans.map(({ scale }) => scale));
  const { plan, box } = /** @type {Best} */ (plans.find(({ scale }) => scale >= WORTH_READING * largest));
  return shapeOf(layout, box, stretched(plan, room));
}

/** A plan with its levels farther apart where that costs nothing: edges become flatter. @param {Plan} plan @param {Size} room @returns {Plan} */
function stretched(plan, room) {
  const { sideways, size, length, step } = plan;
  const [along, across, alongRoom, acrossRoom] = sideways ? [size.width, size.height, room.width, room.height] : [size.height, size.width, room.height, room.width];
  const free = alongRoom * (across / acrossRoom) - along;
  const more = Math.max(0, Math.min(free / length, MOST_STRETCH * step));
  const total = along + more * length;
  return { ...plan, step: step + more, size: sideways ? { ...size, width: total } : { ...size, height: total } };
}

/** @typedef {{ plan: Plan, box: Size, scale: number }} Best */

/** @param {Layout} layout @param {Size} box @param {Size} room @returns {Best} */
function bestStripPlan(layout, box, room) {
  let best = null;
  let bestScale = 0;
  for (const sideways of [false, true]) {
    for (let strips = 1; strips <= Math.min(MOST_STRIPS, Math.max(1, layout.levels)); strips += 1) {
      const length = Math.max(1, Math.ceil(layout.levels / strips));
      if (strips > 1 && (length < SHORTEST_STRIP || Math.ceil(layout.levels / length) !== strips)) continue;
      const plan = planStrips(layout, box, sideways, strips, length);
      const scale = Math.min(room.width / plan.size.width, room.height / plan.size.height);
      if (!best || scale > bestScale * STRIP_WORTH_IT) {
        best = plan;
        bestScale = scale;
      }
    }
  }
  return { plan: /** @type {Plan} */ (best), box, scale: bestScale };
}

/** @typedef {{ sideways: boolean, strips: number, length: number, shifts: number[], gutters: number[], size: Size, step: number, unit: number }} Plan */

/** @param {Layout} layout @param {Size} box @param {boolean} sideways @param {number} strips @param {number} length @returns {Plan} */
function planStrips(layout, box, sideways, strips, length) {
  const [along, across] = sideways ? [box.width, box.height] : [box.height, box.width];
  const step = along + GAP_BETWEEN_LEVELS + (sideways ? 8 : 0);
  const unit = across + GAP_WITHIN_LEVEL;
  const low = new Array(strips).fill(Infinity);
  const high = new Array(strips).fill(-Infinity);
  const widen = (/** @type {number} */ x, /** @type {number} */ level, /** @type {number} */ room) => {
    const strip = Math.floor(level / length);
    low[strip] = Math.min(low[strip], x - room);
    high[strip] = Math.max(high[strip], x + room);
  };
  layout.x.forEach((x, op) => widen(x, layout.level[op], 0.5));
  for (const route of layout.routes) {
    for (let at = 2; at < route.length; at += 2) widen(route[at], route[at + 1], WAYPOINT_ROOM);
  }
  const shifts = [];
  const gutters = [];
  let offset = strips > 1 ? STRIP_GUTTER / 2 : 0;
  for (let strip = 0; strip < strips; strip += 1) {
    const [first, last] = high[strip] < low[strip] ? [0, 1] : [low[strip], high[strip]];
    shifts.push(offset - first * unit);
    gutters.push(offset - STRIP_GUTTER / 2);
    offset += (last - first) * unit + STRIP_GUTTER;
  }
  const width = offset - STRIP_GUTTER;
  const height = length * step + (strips > 1 ? 2 * STRIP_TURN : 0);
  const size = sideways ? { width: height, height: width } : { width, height };
  return { sideways, strips, length, shifts, gutters, size, step, unit };
}

/** @param {Layout} layout @param {Size} box @param {Plan} plan @returns {Shape} */
function shapeOf(layout, box, plan) {
  const { sideways, strips, length, shifts, gutters, size, step, unit } = plan;
  const before = strips > 1 ? STRIP_TURN : 0;
  /** @type {(x: number, level: number) => [number, number]} */
  const place = (x, level) => {
    const strip = Math.floor(level / length);
    return [x * unit + shifts[strip], before + (level - strip * length + 0.5) * step];
  };
  const count = layout.x.length;
  const shape = { sideways, strips, length, box, size, x: new Float64Array(count), y: new Float64Array(count), place, gutters, step, halfBox: (sideways ? box.width : box.height) / 2 };
  for (let op = 0; op < count; op += 1) {
    const [across, along] = place(layout.x[op], layout.level[op]);
    shape.x[op] = sideways ? along : across;
    shape.y[op] = sideways ? across : along;
  }
  return shape;
}

/** Waypoints of edges by `source * count + target`. @param {Layout} layout */
export function routesByEdge(layout) {
  const count = layout.x.length;
  return new Map(layout.routes.map((route) => [route[0] * count + route[1], route]));
}

/**
 * Draw the way of an edge. It passes a level beside its boxes, along the levels, and bends only between levels.
 * @param {Way} way
 * @param {Shape} shape
 * @param {Layout} layout
 * @param {number[] | undefined} route Of the layout, where the edge passes other levels.
 * @param {number} source
 * @param {number} target
 */
export function drawWay(way, shape, layout, route, source, target) {
  const pen = dagPenOn(way, shape.sideways);
  const start = shape.place(layout.x[source], layout.level[source]);
  let level = layout.level[source];
  let [across, along] = [start[0], start[1] + shape.halfBox];
  pen.move(across, along);
  const inner = route ?? [];
  for (let at = 2; at <= Math.max(2, inner.length); at += 2) {
    const last = at >= inner.length;
    const nextLevel = last ? layout.level[target] : inner[at + 1];
    const next = shape.place(last ? layout.x[target] : inner[at], nextLevel);
    const strip = Math.floor(nextLevel / shape.length);
    const arrive = next[1] - shape.halfBox;
    if (strip === Math.floor(level / shape.length)) pen.bend(across, along, next[0], arrive);
    else turnToStrip(pen, shape, strip, [across, along], [next[0], arrive]);
    [across, along, level] = [next[0], next[1] + shape.halfBox, nextLevel];
    if (!last) pen.line(across, along);
  }
}

/** From the foot of a strip to the head of another, by the gutter before it. @param {Pen} pen @param {Shape} shape @param {number} strip @param {[number, number]} from @param {[number, number]} to */
function turnToStrip(pen, shape, strip, from, to) {
  const gutter = shape.gutters[strip];
  const foot = STRIP_TURN + shape.length * shape.step;
  pen.turn(from[0], from[1], gutter, foot - STRIP_TURN, foot + STRIP_TURN * 0.6);
  pen.line(gutter, 2 * STRIP_TURN);
  pen.turn(gutter, 2 * STRIP_TURN, to[0], to[1], -STRIP_TURN * 0.2);
}

/** @typedef {ReturnType<typeof dagPenOn>} Pen */

/** Draws in coordinates across and along the levels. @param {Way} way @param {boolean} sideways */
function dagPenOn(way, sideways) {
  const curve = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ c, /** @type {number} */ d, /** @type {number} */ e, /** @type {number} */ f) =>
    sideways ? way.bezierCurveTo(b, a, d, c, f, e) : way.bezierCurveTo(a, b, c, d, e, f);
  const line = (/** @type {number} */ a, /** @type {number} */ b) => (sideways ? way.lineTo(b, a) : way.lineTo(a, b));
  return {
    move: (/** @type {number} */ a, /** @type {number} */ b) => (sideways ? way.moveTo(b, a) : way.moveTo(a, b)),
    line,
    /** Leaves and arrives along the levels. @param {number} a0 @param {number} b0 @param {number} a1 @param {number} b1 */
    bend: (a0, b0, a1, b1) => {
      const middle = (b0 + b1) / 2;
      if (Math.abs(a1 - a0) < 0.01) line(a1, b1);
      else curve(a0, middle, a1, middle, a1, b1);
    },
    /** Turns round at a height that it does not quite reach. @param {number} a0 @param {number} b0 @param {number} a1 @param {number} b1 @param {number} height */
    turn: (a0, b0, a1, b1, height) => curve(a0, height, a1, height, a1, b1),
  };
}

/** A way as the text of an SVG path. @implements {Way} */
export class SvgWay {
  constructor() {
    this.d = "";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.d += `M${x.toFixed(1)} ${y.toFixed(1)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.d += `L${x.toFixed(1)} ${y.toFixed(1)}`;
  }

  /** @param {number} a @param {number} b @param {number} c @param {number} d @param {number} x @param {number} y */
  bezierCurveTo(a, b, c, d, x, y) {
    this.d += `C${a.toFixed(1)} ${b.toFixed(1)} ${c.toFixed(1)} ${d.toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)}`;
  }
}
