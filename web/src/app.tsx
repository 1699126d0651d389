/** The frame of the page: the bar on top, what is said of the experiment, and the foot. */

import type { Page } from "#page";
import { Parts, Report } from "./report";
import { PageContext } from "./shared/page";
import { ThemeButton } from "./shared/themebutton";
import { TipBox } from "./shared/tip";
import { moment } from "./text/format";

/** The whole page. */
export function App({ page }: { page: Page }) {
  return (
    <PageContext.Provider value={page}>
      <nav class="top" aria-label="Parts of the report">
        <a href="#page" class="home">
          steelyard
        </a>
        <Parts page={page} />
        <ThemeButton />
      </nav>
      <Report page={page} />
      <footer>
        Measured with steelyard {page.steelyard}. Written {moment(page.generated ?? "")} by
        steelyard {page.writer}.
      </footer>
      <TipBox />
    </PageContext.Provider>
  );
}
