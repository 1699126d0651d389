/** One floating note for the whole page. It never takes the pointer or the focus. */

import { h, replace, type Child } from "./dom";

let tip: HTMLElement | null = null;

function element(): HTMLElement {
  if (!tip) {
    tip = h("div", { class: "tip", role: "status", "aria-live": "off", hidden: true });
    document.body.append(tip);
  }
  return tip;
}

function place(left: number, top: number, bottom: number): void {
  const box = element();
  const width = box.offsetWidth;
  const height = box.offsetHeight;
  const view = document.documentElement.clientWidth;
  const x = Math.min(Math.max(6, left), Math.max(6, view - width - 6));
  const y = bottom + height + 8 < window.innerHeight ? bottom + 6 : top - height - 6;
  box.style.transform = `translate(${Math.round(x)}px, ${Math.round(Math.max(4, y))}px)`;
}

/** Shows a note under (or over) an element. */
export function showTip(beside: Element, ...children: Child[]): void {
  const box = element();
  replace(box, children);
  box.hidden = false;
  const rect = beside.getBoundingClientRect();
  const plot = beside.querySelector(".plot")?.getBoundingClientRect() ?? rect;
  place(plot.left, rect.top, rect.bottom);
}

/** Shows a note beside a point in the window. */
export function showTipAt(x: number, y: number, ...children: Child[]): void {
  const box = element();
  replace(box, children);
  box.hidden = false;
  const width = box.offsetWidth;
  const view = document.documentElement.clientWidth;
  const left = x + 16 + width < view ? x + 16 : x - width - 16;
  place(left, y - 12, y - 12);
}

/** Hides the note. */
export function hideTip(): void {
  if (tip) tip.hidden = true;
}
