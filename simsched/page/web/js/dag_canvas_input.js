// Pointer and keyboard on the canvases.

import { itemAt, itemByKey, itemOf } from "./dag_scene.js";
import { setAttributes } from "./dom.js";

/**
 * @param {import("./dag_view.js").DagContext} context
 * @param {HTMLCanvasElement} canvas
 * @param {import("./dag_view.js").DagView & { current: number }} view
 * @param {import("./dag_paint.js").Painter} painter
 */
export function listenToCanvas(context, canvas, view, painter) {
  const { app, scene, shape, panZoom } = context;
  const at = (/** @type {MouseEvent} */ event) => {
    const place = canvas.getBoundingClientRect();
    const x = (event.clientX - place.left - panZoom.x) / panZoom.scale;
    const y = (event.clientY - place.top - panZoom.y) / panZoom.scale;
    return itemAt(shape, x, y, 3 / panZoom.scale);
  };
  const point = (/** @type {number} */ item) => {
    if (view.current === item) return;
    view.current = item;
    setAttributes(canvas, { "data-current": item < 0 ? null : item });
    context.tip(item, item < 0 ? null : painter.lines(item));
    if (scene.members) view.highlight();
    else app.set({ hovered: item < 0 ? null : item });
  };
  const choose = (/** @type {number} */ item) => {
    if (scene.members) context.openGroup(item);
    else app.set({ selected: app.state.selected === item ? null : item });
  };
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) return;
    const item = at(event);
    canvas.classList.toggle("over-box", item >= 0);
    point(item);
  });
  canvas.addEventListener("pointerleave", () => point(-1));
  canvas.addEventListener("click", (event) => {
    if (panZoom.dragged) return;
    const item = at(event);
    if (item >= 0) choose(item);
    else if (!scene.members) app.set({ selected: null });
  });
  canvas.addEventListener("blur", () => point(-1));
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { selected } = app.state;
    const from = view.current >= 0 ? view.current : selected === null ? -1 : itemOf(app.graph, selected);
    if (event.key.startsWith("Arrow")) {
      const next = from < 0 ? 0 : itemByKey(scene, shape.sideways, from, event.key);
      if (next >= 0) {
        point(next);
        context.reveal([next]);
        context.announce(painter.lines(next).join(", "));
      }
    } else if ((event.key === "Enter" || event.key === " ") && from >= 0) choose(from);
    else return;
    // The player has uses of its own for these keys.
    event.preventDefault();
    event.stopPropagation();
  });
}
