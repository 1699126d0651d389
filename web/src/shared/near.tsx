/**
 * Work that waits until the reader comes near it, the page is printed, or the browser is idle.
 */

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { isPrinting, onPrint } from "./print";

/** How far outside the window something counts as near, so that it is ready in time. */
const AHEAD = "300px 0px";

type Idle = (work: (deadline: Pick<IdleDeadline, "timeRemaining">) => void) => void;

/** Safari has no idle callbacks, so there the work continues in short pieces. */
const whenIdle: Idle =
  typeof window !== "undefined" && "requestIdleCallback" in window
    ? (work) => void window.requestIdleCallback(work)
    : (work) => {
        setTimeout(() => {
          const end = performance.now() + 8;
          work({ timeRemaining: () => end - performance.now() });
        }, 50);
      };

const near = new Map<Element, () => void>();
const idle = new Set<() => void>();
let observer: IntersectionObserver | undefined;

/** Nothing waits for long, so that a screenshot of the whole page is complete. */
function workIdly(): void {
  whenIdle((deadline) => {
    for (const work of [...idle]) {
      if (deadline.timeRemaining() <= 0) break;
      work();
    }
    if (idle.size > 0) workIdly();
  });
}

/**
 * True as soon as the reader has come near an element or prints; with `whenever`, at the latest
 * when the browser is idle.
 */
export function useNear(
  element: RefObject<Element | null>,
  whenever = false,
  from = false,
): boolean {
  const [reached, setReached] = useState(from);
  useLayoutEffect(() => {
    const box = element.current;
    if (reached || !box) return;
    if (isPrinting()) return setReached(true);
    observer ??= new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) near.get(target)?.();
      },
      { rootMargin: AHEAD },
    );
    const reach = (): void => {
      stop();
      setReached(true);
    };
    const stopPrint = onPrint((printing) => printing && reach());
    const stop = (): void => {
      observer?.unobserve(box);
      near.delete(box);
      idle.delete(reach);
      stopPrint();
    };
    near.set(box, reach);
    observer.observe(box);
    if (whenever) {
      if (idle.size === 0) workIdly();
      idle.add(reach);
    }
    return stop;
  }, [reached]);
  return reached;
}
