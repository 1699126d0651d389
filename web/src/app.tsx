/** The frame of the page: the bar on top, the head, the views and the foot. */

import { useState } from "preact/hooks";
import type { Page } from "#page";
import { PageContext } from "./shared/page";
import { chooseTheme, type ThemeChoice, themeChoice } from "./shared/theme";
import { TipBox } from "./shared/tip";
import { moment } from "./text/format";
import { VIEWS } from "./views";
import { Head } from "./views/head";

const NEXT: Record<ThemeChoice, ThemeChoice> = { auto: "light", light: "dark", dark: "auto" };

function ThemeButton() {
  const [choice, setChoice] = useState(themeChoice());
  const change = (): void => {
    chooseTheme(NEXT[choice]);
    setChoice(NEXT[choice]);
  };
  return (
    <button
      type="button"
      class="quiet"
      data-control="theme"
      aria-label={`Theme: ${choice}. Change to ${NEXT[choice]}`}
      onClick={change}>
      theme: {choice}
    </button>
  );
}

/** The whole page. */
export function App({ page }: { page: Page }) {
  const views = VIEWS.filter((view) => view.applies(page));
  return (
    <PageContext.Provider value={page}>
      <nav class="top" aria-label="Parts of the report">
        <a href="#page" class="home">
          steelyard
        </a>
        <span class="links">
          {views.map(({ id, name }) => (
            <a href={`#${id}`}>{name}</a>
          ))}
        </span>
        <ThemeButton />
      </nav>
      <Head />
      {views.map(({ id, title, Body }) => (
        <section id={id} aria-labelledby={`${id}-title`}>
          <h2 id={`${id}-title`}>{title(page)}</h2>
          <Body />
        </section>
      ))}
      <footer>
        Written {moment(page.generated)} by steelyard {page.steelyard}.
      </footer>
      <TipBox />
    </PageContext.Provider>
  );
}

/** The message when there is nothing to show. */
export function Problem({ text }: { text: string }) {
  return (
    <div class="problem" role="alert">
      <h1>No results to show</h1>
      <p>{text}</p>
    </div>
  );
}
