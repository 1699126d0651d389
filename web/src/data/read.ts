/**
 * The door through which the data come in. Their shapes are written by the Rust side of the same
 * build; everything in them is untrusted text and is only ever shown as text nodes.
 */

import type { Page } from "#page";
import { type Embedded, parseEmbedded, whenAsked } from "./embedded";

/** The version of the shapes. */
const FORMAT = 1;

/** Either the page or a sentence for the reader that says why there is none. */
export type Read = { page: Page } | { problem: string };

const AGAIN = "Write the report again with “steelyard report”.";

/** Reads the text of the data script. A trial's series are parsed when they are first asked for. */
export function readPage(text: string | null): Read {
  if (text === null) {
    return { problem: `The data script “steelyard-data” is missing from this file. ${AGAIN}` };
  }
  let embedded: Embedded;
  try {
    embedded = parseEmbedded(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown error";
    return {
      problem: `The data in this file is not valid JSON: it was cut short (${why}). ${AGAIN}`,
    };
  }
  const page = embedded.raw as Page | null;
  if (page === null) {
    return {
      problem:
        "This is the empty template of the report page: it holds no results. " +
        "“steelyard report -o r.html” writes a page with results.",
    };
  }
  if (page.format !== FORMAT) {
    return {
      problem: `This page draws data of format ${FORMAT} and found format ${page.format}. ${AGAIN}`,
    };
  }
  for (const step of page.steps) {
    for (const trial of step.trials) {
      const { series } = trial;
      whenAsked(trial, "series", () => embedded.series(series));
    }
  }
  return { page };
}
