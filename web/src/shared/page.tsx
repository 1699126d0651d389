/** The page's data for every component, and what a view is. */

import { type ComponentType, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Page } from "#page";

/** A part of the page with a heading, reached from the bar on top. */
export interface View {
  /** The section's id, for links. */
  id: string;
  /** Its name in the bar on top. */
  name: string;
  /** Its heading. */
  title: (page: Page) => string;
  /** Whether this page has any of it. */
  applies: (page: Page) => boolean;
  Body: ComponentType;
}

export const PageContext = createContext<Page | null>(null);

/** The data of the page. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("a component is outside the page");
  return page;
}
