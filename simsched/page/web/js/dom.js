// Making elements. Text always goes in as text.

/**
 * Make an element.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes] `class`, `data-...`, `aria-...`; null leaves one out.
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/**
 * Make an SVG element.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** @param {Element} element @param {Record<string, string | number | boolean | null | undefined>} attributes */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Make a button.
 * @param {string} label
 * @param {() => void} action
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 */
export function makeButton(label, action, attributes = {}) {
  const button = /** @type {HTMLButtonElement} */ (make("button", { type: "button", ...attributes }, label));
  button.addEventListener("click", action);
  return button;
}

/** The element of the page's frame with an id. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Write text, only where it differs. @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
