// Numbers for people, as simsched.units writes them.

/**
 * A number with so many significant digits, as `%.4g` in C or Python: of two equally near the one whose last digit is
 * even, no zeros at the end, in scientific notation from 10 to the power of `digits` on and below 0.0001.
 * @param {number} number
 * @param {number} digits
 */
export function significant(number, digits) {
  const rounded = Number(roundedText(number, digits));
  const [mantissa, power] = rounded.toExponential().split("e");
  if (rounded !== 0 && (Number(power) < -4 || Number(power) >= digits)) {
    return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return String(rounded);
}

/** `toPrecision`, with ties to even. A hundred digits hold every number of the size of times and bytes exactly. @param {number} number @param {number} digits */
function roundedText(number, digits) {
  const [mantissa, power] = number.toExponential(99).split("e");
  const figures = mantissa.replace(/[-.]/gu, "");
  const tie = /^50*$/u.test(figures.slice(digits));
  const even = Number(figures[digits - 1]) % 2 === 0;
  return tie && even ? `${mantissa.slice(0, mantissa.indexOf(".") + digits)}e${power}` : number.toPrecision(digits);
}

/** At most four significant digits, never in scientific notation below 10,000. @param {number} number */
function shortNumber(number) {
  return Number.isInteger(number) && Math.abs(number) < 1e6 ? String(number + 0) : significant(number, 4);
}

/** A duration or an instant; a plain number where the unit is "tick". @param {number} time @param {string} unit */
export function formatTime(time, unit) {
  if (unit === "tick") return Number.isInteger(time) ? BigInt(time).toString() : significant(time, 6);
  for (const [name, factor] of /** @type {[string, number][]} */ ([["s", 1e9], ["ms", 1e6], ["us", 1e3]])) {
    if (Math.abs(time) >= factor) return `${shortNumber(time / factor)} ${name}`;
  }
  return `${shortNumber(time)} ns`;
}

/** A place of the cursor, which may lie between two ticks. @param {number} time @param {string} unit @param {number} whole Length of the longest run. */
export function formatPlace(time, unit, whole) {
  const fine = unit === "tick" && whole < 100;
  return formatTime(fine ? Math.round(time * 10) / 10 : Math.round(time), unit);
}

/** Bytes in binary units. @param {number} bytes */
export function formatSize(bytes) {
  for (const [name, power] of /** @type {[string, number][]} */ ([["TiB", 4], ["GiB", 3], ["MiB", 2], ["KiB", 1]])) {
    if (Math.abs(bytes) >= 1024 ** power) return `${shortNumber(bytes / 1024 ** power)} ${name}`;
  }
  return `${shortNumber(bytes)} B`;
}

/** A count or a rate with a decimal prefix: 3.6 GFLOP. @param {number} number @param {string} unit */
export function formatCount(number, unit) {
  for (const [prefix, factor] of /** @type {[string, number][]} */ ([["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]])) {
    if (Math.abs(number) >= factor) return `${shortNumber(number / factor)} ${prefix}${unit}`;
  }
  return `${shortNumber(number)} ${unit}`;
}

/** How many there are, in groups of three digits: 100,000. @param {number} count */
export function formatWhole(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/gu, ",");
}

/** A share as a percentage; with one digit behind the point below ten. @param {number} share */
export function formatPercent(share) {
  const percent = 100 * share;
  return `${percent < 9.95 && percent > 0 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** How far something is above a bound, as a percentage with one digit behind the point. @param {number} share */
export function formatGap(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** A share as a whole percentage. @param {number} share */
export function formatWholePercent(share) {
  return percentText(100 * share);
}

/** A number of percent without digits behind the point, ties to even. @param {number} percent */
export function percentText(percent) {
  const low = Math.floor(percent);
  return `${percent - low === 0.5 ? low + (low % 2) : percent.toFixed(0)} %`;
}

/** A name made short enough to be shown; its middle is left out. @param {string} name @param {number} most */
export function shortName(name, most) {
  const letters = Array.from(name.replace(/\s+/gu, " "));
  if (letters.length <= most) return letters.join("");
  const tail = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}
