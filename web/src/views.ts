/** The views, top to bottom. A new one is a folder with a `View`, and a line here. */

import type { View } from "./shared/page";
import { counts } from "./views/counts";
import { environment } from "./views/environment";
import { glossary } from "./views/glossary";
import { history } from "./views/history";
import { overview } from "./views/overview";
import { profiles } from "./views/profiles";
import { relative } from "./views/relative";
import { steps } from "./views/steps";
import { sweep } from "./views/sweep";
import { tables } from "./views/tables";

export const VIEWS: View[] = [
  sweep,
  overview,
  relative,
  tables,
  steps,
  profiles,
  counts,
  history,
  environment,
  glossary,
];
