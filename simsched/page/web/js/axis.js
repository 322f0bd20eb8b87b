// Round numbers on axes.

const AXIS_UNITS = /** @type {[string, number][]} */ ([["s", 1e9], ["ms", 1e6], ["us", 1e3]]);

/** The smallest of 1, 2, 5, 10, 20, ... that divides a span into at most so many parts. @param {number} span @param {number} most */
export function niceStep(span, most) {
  const least = span / Math.max(1, most);
  if (!(least > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((digit) => digit * power >= least * (1 - 1e-9)) ?? 10) * power;
}

/** The smallest power of two that divides so many bytes into at most so many parts. @param {number} bytes @param {number} most */
export function byteStep(bytes, most) {
  let step = 1;
  while (bytes / step > most) step *= 2;
  return step;
}

/** Multiples of a step within a window, ascending. @param {number} from @param {number} to @param {number} step */
export function multiplesIn(from, to, step) {
  const found = [];
  for (let count = Math.ceil(from / step); count * step <= to; count += 1) found.push(count * step);
  return found;
}

/**
 * The unit of an axis: the largest of which the axis holds at least one. Ticks have none.
 * @param {number} largest
 * @param {string} unit
 * @returns {[string, number]} Its name and how many ns (or ticks) it is.
 */
export function timeUnit(largest, unit) {
  if (unit === "tick") return ["", 1];
  return AXIS_UNITS.find(([, factor]) => largest >= factor) ?? ["ns", 1];
}

/** A tick's number, with as many decimals as its step needs. @param {number} time @param {number} step @param {number} factor */
export function tickText(time, step, factor) {
  if (time === 0) return "0";
  const decimals = Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9));
  return (time / factor).toFixed(decimals);
}
