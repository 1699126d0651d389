/** The frame of all pages: the bar on top, the page that the address names, and the foot. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { Problem } from "../shared/problem";
import { ThemeButton } from "../shared/themebutton";
import { hideTip } from "../shared/tip";
import { pageOf, useRoute } from "./navigate";
import { ComparePage } from "./pages/compare";
import { ExperimentPage } from "./pages/experiment";
import { ExperimentsPage } from "./pages/experiments";
import { HistoryPage } from "./pages/history";
import { LivePage } from "./pages/live";
import { MachinesPage } from "./pages/machines";
import { OverviewPage } from "./pages/overview";
import { addressOf, FIRST_HISTORY, NO_FILTER, type Route } from "./route";

const PLACES: [name: string, route: Route][] = [
  ["Overview", { page: "overview" }],
  ["Experiments", { page: "experiments", filter: NO_FILTER }],
  ["Compare", { page: "compare", picks: [] }],
  ["History", { page: "history", chosen: FIRST_HISTORY }],
  ["Machines", { page: "machines" }],
  ["Live", { page: "live" }],
];

function Shown({ route }: { route: Route }) {
  switch (route.page) {
    case "overview":
      return <OverviewPage />;
    case "experiments":
      return <ExperimentsPage filter={route.filter} />;
    case "experiment":
      return <ExperimentPage key={route.id} id={route.id} />;
    case "history":
      return <HistoryPage chosen={route.chosen} />;
    case "compare":
      return <ComparePage picks={route.picks} />;
    case "machines":
      return <MachinesPage />;
    case "live":
      return <LivePage />;
    case "unknown":
      return <Problem title="Nothing is here" text="This address leads to no page." />;
  }
}

export function Site() {
  const route = useRoute();
  const page = pageOf(route);
  const before = useRef(page);
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    hideTip();
    // So that the next Tab, or a screen reader, goes on in the page that came.
    if (before.current !== page) content.current?.focus({ preventScroll: true });
    before.current = page;
  }, [page]);
  return (
    <>
      <a href="#content" class="skip">
        Skip to the content
      </a>
      <nav class="top pages" aria-label="Pages">
        <a href="./" class="home">
          steelyard
        </a>
        <span class="links">
          {PLACES.map(([name, to]) => (
            <a
              key={name}
              href={addressOf(to)}
              aria-current={to.page === route.page ? "page" : undefined}>
              {name}
            </a>
          ))}
        </span>
        <ThemeButton />
      </nav>
      <div id="content" tabIndex={-1} ref={content}>
        <Shown route={route} />
      </div>
    </>
  );
}
