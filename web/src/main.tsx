/** Opens the page: reads the data and draws its parts. */

import "uplot/dist/uPlot.min.css";
import "./shared/style/base.css";
import "./shared/style/chart.css";
import "./shared/style/table.css";
import { render } from "preact";
import type { Page } from "#page";
import { App, Problem } from "./app";
import { embeddedText } from "./data/embedded";
import { readPage } from "./data/read";
import { inspected } from "./shared/chart";
import { startTheme } from "./shared/theme";

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

function start(main: HTMLElement): void {
  startTheme();
  const read = readPage(embeddedText(document.getElementById("data")));
  const page = "page" in read ? read.page : null;
  main.textContent = "";
  if ("page" in read) {
    document.title = `${read.page.experiment.name} · steelyard`;
    render(<App page={read.page} />, main);
  } else {
    render(<Problem text={read.problem} />, main);
  }
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

const main = document.getElementById("page");
if (main) start(main);
