/** Opens the site. */

import "uplot/dist/uPlot.min.css";
import "../shared/style/base.css";
import "../shared/style/chart.css";
import "../shared/style/table.css";
import "./site.css";
import { render } from "preact";
import { letInspect } from "../shared/inspect";
import { startTheme } from "../shared/theme";
import { Site } from "./app";
import { followLinks } from "./navigate";

startTheme();
followLinks();
letInspect(null);
const main = document.getElementById("page");
if (main) {
  main.textContent = "";
  render(<Site />, main);
}
