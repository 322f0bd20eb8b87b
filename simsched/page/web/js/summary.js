// Placeholder until its owner writes it.

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountSummary(root, app) {
  void root;
  void app;
}
