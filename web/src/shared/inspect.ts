/** What tests and the console see of a page. */

import type { Page } from "#page";
import { inspected } from "./chart";

declare global {
  interface Window {
    /** What the page shows, for tests and for the console. */
    steelyard?: {
      page: Page | null;
      readonly plots: object[];
      readonly history: object[];
      readonly sweeps: object[];
    };
  }
}

/** Lets the console and tests look at what is drawn. */
export function letInspect(page: Page | null): void {
  window.steelyard = {
    page,
    get plots() {
      return inspected("plots");
    },
    get history() {
      return inspected("history");
    },
    get sweeps() {
      return inspected("sweeps");
    },
  };
}
