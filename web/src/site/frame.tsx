/** What pages have in common: a title, and what is said while a document comes. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Problem } from "../shared/problem";
import type { Got } from "./documents";

/** Names the page. */
export function useTitle(title: string): void {
  useLayoutEffect(() => {
    document.title = title === "" ? "steelyard" : `${title} · steelyard`;
  }, [title]);
}

/** The heading of a page. */
export function Title({ name }: { name: string }) {
  useTitle(name);
  return <h1>{name}</h1>;
}

/** What a document gives, or why there is none. */
export function Loaded<T>({
  got,
  children,
}: {
  got: Got<T>;
  children: (document: T) => ComponentChildren;
}) {
  if (got === null)
    return (
      <p class="note waiting" role="status">
        Reading …
      </p>
    );
  if ("problem" in got) return <Problem title="Nothing to show" text={got.problem} />;
  return <>{children(got.document)}</>;
}
