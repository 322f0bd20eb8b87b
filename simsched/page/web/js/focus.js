// The keyboard's focus stays where the reader was, also where what had it is drawn anew or put away.

const NAMED = "[aria-label], [aria-labelledby]";

/** Remember who has the focus; the function that is returned gives it to what is around, where that one has gone. @returns {() => void} */
export function holdFocus() {
  const held = document.activeElement;
  if (!held || held === document.body) return () => {};
  /** @type {HTMLElement[]} */
  const around = [];
  for (let each = held.parentElement; each; each = each.parentElement) if (each.matches(NAMED)) around.push(each);
  return () => {
    if (held.isConnected && held.checkVisibility() && !held.matches(":disabled")) return;
    const near = around.find((each) => each.isConnected && each.checkVisibility());
    if (near && !near.hasAttribute("tabindex")) {
      near.setAttribute("tabindex", "-1");
      near.addEventListener("blur", () => near.removeAttribute("tabindex"), { once: true });
    }
    (near ?? /** @type {HTMLElement | null} */ (document.querySelector("[role=tab][aria-selected=true]")))?.focus({ preventScroll: true });
  };
}
