// Numbers for people, as simsched.units writes them.

/** At most four significant digits, never in scientific notation below 10,000. @param {number} number */
function shortNumber(number) {
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return String(number);
  const rounded = Number(number.toPrecision(4));
  if (Math.abs(rounded) >= 1e4 || (rounded !== 0 && Math.abs(rounded) < 1e-4)) {
    const [digits, power] = rounded.toExponential().split("e");
    return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return String(rounded);
}

/** A duration or an instant; a plain number where the unit is "tick". @param {number} time @param {string} unit */
export function formatTime(time, unit) {
  if (unit === "tick") return Number.isInteger(time) ? String(time) : String(Number(time.toPrecision(6)));
  for (const [name, factor] of /** @type {[string, number][]} */ ([["s", 1e9], ["ms", 1e6], ["us", 1e3]])) {
    if (Math.abs(time) >= factor) return `${shortNumber(time / factor)} ${name}`;
  }
  return `${shortNumber(time)} ns`;
}

/** Bytes in binary units. @param {number} bytes */
export function formatSize(bytes) {
  for (const [name, power] of /** @type {[string, number][]} */ ([["TiB", 4], ["GiB", 3], ["MiB", 2], ["KiB", 1]])) {
    if (Math.abs(bytes) >= 1024 ** power) return `${shortNumber(bytes / 1024 ** power)} ${name}`;
  }
  return `${shortNumber(bytes)} B`;
}

/** A count with a decimal prefix: 3.6 GFLOP. @param {number} number @param {string} unit */
export function formatCount(number, unit) {
  for (const [prefix, factor] of /** @type {[string, number][]} */ ([["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]])) {
    if (Math.abs(number) >= factor) return `${shortNumber(number / factor)} ${prefix}${unit}`;
  }
  return `${shortNumber(number)} ${unit}`;
}

/** A share as a percentage. @param {number} share */
export function formatPercent(share) {
  const percent = 100 * share;
  return `${percent < 9.95 && percent > 0 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** A name made short enough to be shown; its middle is left out. @param {string} name @param {number} most */
export function shortName(name, most) {
  const letters = Array.from(name.replace(/\s+/gu, " "));
  if (letters.length <= most) return letters.join("");
  const tail = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}
