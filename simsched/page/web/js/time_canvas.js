// What all canvases of the charts have in common: sharp pixels, hatches, text that fits.

/** A canvas that is a picture for screen readers too. @param {string} layer What the style sheet calls it. */
export function makeCanvas(layer) {
  const canvas = document.createElement("canvas");
  canvas.className = `time-canvas ${layer}`;
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}

/** @param {HTMLCanvasElement} canvas @param {string} label */
export function describeCanvas(canvas, label) {
  canvas.removeAttribute("aria-hidden");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
}

/**
 * Make a canvas of so many pixels of the page empty.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function clearCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** By colour and measures. @type {Map<string, HTMLCanvasElement>} */
const hatchTiles = new Map();

/** Diagonal lines. @param {CanvasRenderingContext2D} context @param {string} colour @param {number} size Distance of lines. @param {number} line */
export function hatch(context, colour, size, line) {
  const key = `${colour} ${size} ${line}`;
  const tile = hatchTiles.get(key) ?? hatchTile(colour, size, line);
  hatchTiles.set(key, tile);
  return /** @type {CanvasPattern} */ (context.createPattern(tile, "repeat"));
}

/** @param {string} colour @param {number} size @param {number} line */
function hatchTile(colour, size, line) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  pen.strokeStyle = colour;
  pen.lineWidth = line;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
  }
  pen.stroke();
  return tile;
}

/**
 * A name shortened to a width, or "" where not even a part of it would tell anything.
 * @param {CanvasRenderingContext2D} context Its font is set.
 * @param {string} name
 * @param {number} room
 */
export function fittingName(context, name, room) {
  if (room < 14) return "";
  if (context.measureText(name).width <= room) return name;
  const letters = Array.from(name);
  const most = Math.floor((letters.length * room) / context.measureText(name).width) - 1;
  for (let count = Math.min(most, letters.length - 1); count >= 4; count -= 1) {
    const tail = Math.floor((count - 1) / 2);
    const short = `${letters.slice(0, count - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
    if (context.measureText(short).width <= room) return short;
  }
  return "";
}

/** Show only what lies before an instant. @param {HTMLElement} canvas @param {number} x @param {number} width */
export function clipBefore(canvas, x, width) {
  canvas.style.clipPath = `inset(0 ${Math.max(0, Math.min(width, width - x)).toFixed(2)}px 0 0)`;
}
