/** What is said of an experiment: the head and the views, with links to them. */

import type { Page } from "#page";
import { VIEWS } from "./views";
import { Head } from "./views/head";

const shown = (page: Page) => VIEWS.filter((view) => view.applies(page));

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
