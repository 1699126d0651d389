/** What is said of an experiment: the head and the views, with links to them. */

import type { Page } from "#page";
import type { View } from "./shared/page";
import { VIEWS } from "./views";
import { Head } from "./views/head";

/** The views that the page has; what a bisection found comes first. */
function shown(page: Page) {
  const views = VIEWS.filter((view) => view.applies(page));
  const first = page.history?.order === "bisection" ? views.filter(isHistory) : [];
  return [...new Set([...first, ...views])];
}

const isHistory = ({ id }: View): boolean => id === "history";

/** Links to the parts. */
export function Parts({ page }: { page: Page }) {
  return (
    <span class="links">
      {shown(page).map(({ id, name }) => (
        <a key={id} href={`#${id}`}>
          {name}
        </a>
      ))}
    </span>
  );
}

/** The head and the parts, inside the page's context. */
export function Report({ page }: { page: Page }) {
  return (
    <>
      <Head />
      {shown(page).map(({ id, title, Body }) => (
        <section key={id} id={id} aria-labelledby={`${id}-title`}>
          <h2 id={`${id}-title`}>{title(page)}</h2>
          <Body />
        </section>
      ))}
    </>
  );
}
