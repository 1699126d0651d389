/** Going from address to address without loading the app again. */

import { useLayoutEffect, useState } from "preact/hooks";
import { type Route, routeOf } from "./route";

/** Told of every new address. */
const listeners = new Set<() => void>();

const tell = (): void => {
  for (const listener of listeners) listener();
};

/** What makes a page another, so that the reader begins at its top. */
export function pageOf(route: Route): string {
  return route.page === "experiment" ? `experiment ${route.id}` : route.page;
}

/** Goes to an address; `instead` of the present one, for what changes as the reader types. */
export function go(address: string, instead = false): void {
  const before = pageOf(routeOf(location.search));
  if (instead) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  tell();
  // Going back and forward, the browser knows where the reader was.
  if (before !== pageOf(routeOf(location.search)) && location.hash === "") scrollTo(0, 0);
}

/** The present state. */
export function useRoute(): Route {
  const [search, setSearch] = useState(location.search);
  useLayoutEffect(() => {
    const changed = (): void => setSearch(location.search);
    listeners.add(changed);
    addEventListener("popstate", changed);
    return () => {
      listeners.delete(changed);
      removeEventListener("popstate", changed);
    };
  }, []);
  return routeOf(search);
}

/** Shows the place in the page that the address names, if there is one. */
export function showPlace(): void {
  let place = location.hash.slice(1);
  try {
    place = decodeURIComponent(place);
  } catch {
    // A percent sign that somebody typed stands for itself.
  }
  if (place !== "") document.getElementById(place)?.scrollIntoView();
}

/**
 * Follows links to this app without loading it again. All others, and those that the reader opens
 * elsewhere, are the browser's.
 */
export function followLinks(): void {
  addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest?.("a");
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target !== "" || link.hasAttribute("download")) return;
    const to = new URL(link.href);
    if (to.origin !== location.origin || to.pathname !== location.pathname) return;
    // A place within this page.
    if (to.search === location.search && to.hash !== "") return;
    event.preventDefault();
    go(to.href);
  });
}
