/** Opens the page: reads the data and draws its parts. */

import "uplot/dist/uPlot.min.css";
import "./shared/style/base.css";
import "./shared/style/chart.css";
import "./shared/style/table.css";
import { render } from "preact";
import { App } from "./app";
import { embeddedText } from "./data/embedded";
import { readPage } from "./data/read";
import { letInspect } from "./shared/inspect";
import { Problem } from "./shared/problem";
import { startTheme } from "./shared/theme";

function start(main: HTMLElement): void {
  startTheme();
  const read = readPage(embeddedText(document.getElementById("data")));
  const page = "page" in read ? read.page : null;
  main.textContent = "";
  if ("page" in read) {
    document.title = `${read.page.experiment.name} · steelyard`;
    render(<App page={read.page} />, main);
  } else {
    render(<Problem title="No results to show" text={read.problem} />, main);
  }
  letInspect(page);
}

const main = document.getElementById("page");
if (main) start(main);
