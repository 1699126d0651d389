/** Reading the document of an experiment. */

import type { Page } from "#page";
import { readPage } from "../../../data/read";

/** What is wrong with the results comes instead of them. */
const PROBLEM = /^\{"format":1,"problem":/;

export function parsePage(text: string): { document: Page } | { problem: string } {
  if (PROBLEM.test(text)) return JSON.parse(text) as { problem: string };
  const read = readPage(text);
  return "page" in read ? { document: read.page } : read;
}
