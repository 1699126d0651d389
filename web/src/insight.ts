/** Work that waits until what it is for comes into sight, all of the page is wanted on paper, or there is time for it. */

/** How far below and above the window something counts as in sight, so that it is there before the reader is. */
const AHEAD = "600px 0px";

/** Safari has no idle time to give; there the work goes on in short pieces. */
const whenIdle: (work: (deadline: Pick<IdleDeadline, "timeRemaining">) => void) => void =
  typeof window !== "undefined" && "requestIdleCallback" in window
    ? (work) => void window.requestIdleCallback(work)
    : (work) => {
        setTimeout(() => {
          const end = performance.now() + 8;
          work({ timeRemaining: () => end - performance.now() });
        }, 50);
      };

/** Calls a function for each element once: when the reader comes near it or prints, at the latest when nothing else is to do. */
export class InSight {
  private readonly waiting = new Map<Element, () => void>();
  private idling = false;
  private readonly observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) this.run(entry.target);
    },
    { rootMargin: AHEAD },
  );

  constructor() {
    window.addEventListener("beforeprint", () => {
      for (const element of [...this.waiting.keys()]) this.run(element);
    });
  }

  add(element: Element, work: () => void): void {
    this.waiting.set(element, work);
    this.observer.observe(element);
    this.idle();
  }

  /** Forgets all that has not come into sight. */
  clear(): void {
    this.observer.disconnect();
    this.waiting.clear();
  }

  /** Nothing stays undone for long: a picture of the whole page shows what was never in sight. */
  private idle(): void {
    if (this.idling || this.waiting.size === 0) return;
    this.idling = true;
    whenIdle((deadline) => {
      this.idling = false;
      for (const element of [...this.waiting.keys()]) {
        if (deadline.timeRemaining() <= 0) break;
        this.run(element);
      }
      this.idle();
    });
  }

  private run(element: Element): void {
    const work = this.waiting.get(element);
    this.waiting.delete(element);
    this.observer.unobserve(element);
    work?.();
  }
}
