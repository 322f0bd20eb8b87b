// Buttons of the graph's view: larger, smaller, the whole, and to follow what runs.

import { make, makeButton, setAttributes, setText } from "./dom.js";
import { t } from "./words.js";

const DAG_ZOOM_STEP = 1.35;

/**
 * @param {HTMLElement} root
 * @param {import("./pan_zoom.js").PanZoom} panZoom
 * @param {() => void} onFollow When following has been switched.
 */
export function mountDagControls(root, panZoom, onFollow) {
  const smaller = makeButton("−", () => panZoom.zoomBy(1 / DAG_ZOOM_STEP), { class: "icon", "data-testid": "dag-zoom-out" });
  const larger = makeButton("+", () => panZoom.zoomBy(DAG_ZOOM_STEP), { class: "icon", "data-testid": "dag-zoom-in" });
  const whole = makeButton("", () => panZoom.fit(), { "data-testid": "dag-fit" });
  const follow = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", "data-testid": "dag-follow" }));
  const followText = make("span");
  follow.addEventListener("change", onFollow);
  root.append(make("div", { class: "dag-controls" }, smaller, larger, whole, make("label", { class: "dag-check" }, follow, followText)));
  return {
    following: () => follow.checked,
    /** @param {import("./app.js").Change} change */
    update: (change) => {
      if (!change.has("lang") && !change.has("document")) return;
      for (const [button, key] of /** @type {[HTMLElement, string][]} */ ([[smaller, "dag_zoom_out"], [larger, "dag_zoom_in"]])) {
        setAttributes(button, { "aria-label": t(key), title: t(key) });
      }
      setText(whole, t("dag_fit"));
      setText(followText, t("dag_follow"));
    },
  };
}
