/** The page of no experiment, for views that show lines of many: no line is a variant of it. */

import type { Page } from "#page";

export const NO_EXPERIMENT: Page = {
  format: 1,
  steelyard: "",
  experiment: {
    name: "",
    workload: "",
    base: "",
    seed: "",
    blocks: 0,
    margin: 0,
    started: "",
    finished: true,
    plan: "",
  },
  variants: [],
  host: [],
  steps: [],
  tables: [],
  warnings: [],
  catalog: {},
  metrics: [],
  slice_reasons: [],
};
