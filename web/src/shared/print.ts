/** Printing: renders everything deferred before the browser prints the page. */

import { options } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

const listeners = new Set<(printing: boolean) => void>();
let printing = false;

/** Notifies all listeners and renders their changes immediately, because the browser won't wait. */
function announce(begins: boolean): void {
  printing = begins;
  const usual = options.debounceRendering;
  let render: (() => void) | undefined;
  options.debounceRendering = (flush) => {
    render = flush;
  };
  for (const listener of listeners) listener(printing);
  render?.();
  if (usual) options.debounceRendering = usual;
  else delete options.debounceRendering;
}

if (typeof window !== "undefined") {
  window.addEventListener("beforeprint", () => announce(true));
  window.addEventListener("afterprint", () => announce(false));
}

/** Whether the page is being printed. */
export function isPrinting(): boolean {
  return printing;
}

/** Calls `listener` before and after the page is printed; returns how to stop that. */
export function onPrint(listener: (printing: boolean) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the page is being printed, as state. */
export function usePrinting(): boolean {
  const [prints, setPrints] = useState(printing);
  useLayoutEffect(() => onPrint(setPrints), []);
  return prints;
}
