/** Builds elements. Strings always become text nodes: nothing from the data is ever parsed as markup. */

export type Child = Node | string | number | null | undefined | false | Child[];

type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

function apply(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
}

/** Appends children, flattening lists and leaving out nothing, null and false. */
export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** An HTML element with attributes and children; attributes named `on…` are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes, children);
  return element;
}

/** An SVG element with attributes and children. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  apply(element, attributes, children);
  return element;
}

/** Empties an element and fills it anew. */
export function replace(parent: Element, ...children: Child[]): void {
  parent.textContent = "";
  append(parent, children);
}

/** A name that may break after its dots, dashes and underscores, and copies without the breaks. */
export function breakable(name: string): Child[] {
  return name.split(/(?<=[._/-])/).flatMap((part, index) => (index === 0 ? [part] : [document.createElement("wbr"), part]));
}

/** A button that copies a text and says that it did. */
export function copyButton(label: string, name: string, text: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "quiet", "aria-label": name }, label);
  button.addEventListener("click", () => {
    void copyText(text()).then((done) => {
      button.textContent = done ? "copied" : "not allowed";
      window.setTimeout(() => (button.textContent = label), 1200);
    });
  });
  return button;
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers that give a page opened from disk no clipboard still copy a selection.
    const area = h("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
