// Lists whose elements stay as long as their item stays, so that focus and reading place are kept.

/**
 * Bring the children of an element in step with keys. Children are made where there is none for a key yet.
 * @template {string | number} K
 * @param {HTMLElement} parent
 * @param {K[]} keys Distinct.
 * @param {(key: K) => HTMLElement} create
 * @param {(child: HTMLElement, key: K) => void} update
 */
export function keepChildren(parent, keys, create, update) {
  const wanted = new Set(keys.map(String));
  /** @type {Map<string, HTMLElement>} */
  const known = new Map();
  for (const child of /** @type {HTMLElement[]} */ ([...parent.children])) {
    if (wanted.has(child.dataset.key ?? "")) known.set(child.dataset.key ?? "", child);
    else child.remove();
  }
  let place = parent.firstElementChild;
  for (const key of keys) {
    let child = known.get(String(key));
    if (!child) {
      child = create(key);
      child.dataset.key = String(key);
    }
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
    update(child, key);
  }
}
