// Moving and enlarging a drawing: drag, Ctrl and wheel, two fingers. A plain wheel and one finger scroll the page.

const PAN_PADDING = 18;
const PAN_LARGEST_FIT = 2.2;
const PAN_SLACK = 4;
const PAN_GLIDE_MS = 220;

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Frame */

export class PanZoom {
  /** @param {HTMLElement} viewport @param {() => void} onMove Told whenever the place has changed. */
  constructor(viewport, onMove) {
    this.viewport = viewport;
    this.onMove = onMove;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    /** Size of the drawing at scale 1. */
    this.content = { width: 1, height: 1 };
    /** Whether the whole drawing is shown, and goes on to be when the room changes. */
    this.fitted = true;
    /** Whether what is pressed has been moved so far that letting go is no click. */
    this.dragged = false;
    this.glide = 0;
    panByMouse(this);
    panByTouch(this);
  }

  get width() {
    return this.viewport.clientWidth || 600;
  }

  get height() {
    return this.viewport.clientHeight || 440;
  }

  /** The scale at which the whole drawing is seen. */
  get fitScale() {
    const { width, height } = this.content;
    return Math.min((this.width - 2 * PAN_PADDING) / width, (this.height - 2 * PAN_PADDING) / height, PAN_LARGEST_FIT);
  }

  fit() {
    const scale = this.fitScale;
    this.fitted = true;
    this.#place(scale, (this.width - scale * this.content.width) / 2, (this.height - scale * this.content.height) / 2);
  }

  /** @param {number} factor @param {number} [atX] What stays in its place; the middle by default. @param {number} [atY] */
  zoomBy(factor, atX = this.width / 2, atY = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.fitScale * 0.6), Math.max(4, this.fitScale * 1.5));
    const by = scale / this.scale;
    this.fitted = false;
    this.#place(scale, atX - (atX - this.x) * by, atY - (atY - this.y) * by);
  }

  /** @param {number} x @param {number} y */
  panBy(x, y) {
    this.fitted = false;
    this.#place(this.scale, this.x + x, this.y + y);
  }

  /** Some of the drawing always stays in view. @param {number} scale @param {number} x @param {number} y */
  #place(scale, x, y) {
    const keep = 60;
    this.scale = scale;
    this.x = Math.min(Math.max(x, keep - scale * this.content.width), this.width - keep);
    this.y = Math.min(Math.max(y, keep - scale * this.content.height), this.height - keep);
    this.onMove();
  }

  /**
   * Bring a part of the drawing into view if it is not; its middle where it is larger than the view.
   * @param {Frame} part In units of the drawing.
   * @param {number} [scale]
   */
  reveal(part, scale = this.scale) {
    const shift = (/** @type {number} */ at, /** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ room) => {
      const margin = Math.min(48, room / 6);
      const [first, last] = [at + scale * low, at + scale * high];
      if (last - first > room - 2 * margin) return room / 2 - (scale * (low + high)) / 2;
      if (first < margin) return at + margin - first;
      return last > room - margin ? at + room - margin - last : at;
    };
    const zoomed = scale !== this.scale;
    const x = zoomed ? this.width / 2 - (scale * (part.left + part.right)) / 2 : shift(this.x, part.left, part.right, this.width);
    const y = zoomed ? this.height / 2 - (scale * (part.top + part.bottom)) / 2 : shift(this.y, part.top, part.bottom, this.height);
    if (zoomed || x !== this.x || y !== this.y) this.glideTo(scale, x, y);
  }

  /** @param {number} scale @param {number} x @param {number} y */
  glideTo(scale, x, y) {
    this.fitted = false;
    this.stop();
    const from = [this.scale, this.x, this.y];
    const began = performance.now();
    const step = () => {
      const share = Math.min(1, (performance.now() - began) / PAN_GLIDE_MS);
      const eased = share * (2 - share);
      const [nowScale, nowX, nowY] = [scale, x, y].map((to, index) => from[index] + (to - from[index]) * eased);
      this.#place(nowScale, nowX, nowY);
      this.glide = share < 1 ? requestAnimationFrame(step) : 0;
    };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.#place(scale, x, y);
    else this.glide = requestAnimationFrame(step);
  }

  /** End a movement that is under way. */
  stop() {
    cancelAnimationFrame(this.glide);
    this.glide = 0;
  }
}

/** @param {PanZoom} view */
function panByMouse(view) {
  const { viewport } = view;
  let pressed = false;
  let last = [0, 0];
  let moved = 0;
  viewport.addEventListener("pointerdown", (event) => {
    view.dragged = false;
    if (event.pointerType === "touch" || event.button !== 0 || pressOnResizer(viewport, event)) return;
    pressed = true;
    moved = 0;
    last = [event.clientX, event.clientY];
  });
  viewport.addEventListener("pointermove", (event) => {
    if (!pressed) return;
    const by = [event.clientX - last[0], event.clientY - last[1]];
    moved += Math.hypot(...by);
    if (!view.dragged && moved < PAN_SLACK) return;
    if (!view.dragged) viewport.setPointerCapture(event.pointerId);
    view.dragged = true;
    last = [event.clientX, event.clientY];
    view.stop();
    view.panBy(by[0], by[1]);
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) viewport.addEventListener(end, () => (pressed = false));
  viewport.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      view.stop();
      const place = viewport.getBoundingClientRect();
      view.zoomBy(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200), event.clientX - place.left, event.clientY - place.top);
    },
    { passive: false },
  );
}

/** Whether a press is on the corner by which CSS resizes the view. @param {HTMLElement} viewport @param {PointerEvent} event */
function pressOnResizer(viewport, event) {
  const place = viewport.getBoundingClientRect();
  return place.right - event.clientX < 18 && place.bottom - event.clientY < 18;
}

/** @param {PanZoom} view */
function panByTouch(view) {
  /** @type {{ distance: number, x: number, y: number } | null} */
  let before = null;
  const gesture = (/** @type {TouchEvent} */ event) => {
    const place = view.viewport.getBoundingClientRect();
    const [one, other] = [event.touches[0], event.touches[1]];
    return {
      distance: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1,
      x: (one.clientX + other.clientX) / 2 - place.left,
      y: (one.clientY + other.clientY) / 2 - place.top,
    };
  };
  const onTouch = (/** @type {TouchEvent} */ event) => {
    if (event.touches.length !== 2) {
      before = null;
      return;
    }
    event.preventDefault();
    const now = gesture(event);
    if (before) {
      view.stop();
      view.zoomBy(now.distance / before.distance, before.x, before.y);
      view.panBy(now.x - before.x, now.y - before.y);
    }
    view.dragged = true;
    before = now;
  };
  for (const kind of /** @type {("touchstart" | "touchmove" | "touchend")[]} */ (["touchstart", "touchmove", "touchend"])) {
    view.viewport.addEventListener(kind, onTouch, { passive: false });
  }
}
