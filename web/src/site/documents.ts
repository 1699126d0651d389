/** Reading the documents beside the app. They are asked for when they are shown; nothing polls. */

import { useEffect, useState } from "preact/hooks";

/** The version of the shapes. */
const FORMAT = 1;

/** A document, or a sentence that says why there is none; null while it is read. */
export type Got<T> = { document: T } | { problem: string } | null;

/** What was read before, so that going back shows it at once. */
const known = new Map<string, { text: string; got: Got<never> }>();
/** Documents that are kept, and the letters of the largest. */
const MOST = 12;
const LARGEST = 4_000_000;

/** Reads the text of a document into its value; a sentence that says why it can't be shown. */
export type Parse<T> = (text: string) => { document: T } | { problem: string };

/** JSON with a format, or with what is wrong with the results. */
export function parseDocument<T extends { format: number }>(
  text: string,
): { document: T } | { problem: string } {
  const value = JSON.parse(text) as T & { problem?: unknown };
  if (typeof value.problem === "string" && Object.keys(value).length === 2)
    return { problem: value.problem };
  if (value.format !== FORMAT) {
    return {
      problem:
        `This page knows documents of format ${FORMAT}, and this one has format ` +
        `${value.format}. Load the page again.`,
    };
  }
  return { document: value };
}

async function read<T>(path: string, parse: Parse<T>, missing: string): Promise<Got<T>> {
  let text: string;
  try {
    const response = await fetch(path, { headers: { accept: "application/json" } });
    if (response.status === 404 || response.status === 403) return { problem: missing };
    if (!response.ok) return { problem: `The server answered: ${await response.text()}` };
    text = await response.text();
  } catch {
    return { problem: `${path} could not be read. Is the server still running?` };
  }
  const before = known.get(path);
  if (before?.text === text) return before.got;
  let got: Got<T>;
  try {
    got = parse(text);
  } catch {
    return { problem: `${path} is not a document of steelyard.` };
  }
  known.delete(path);
  if (text.length <= LARGEST) known.set(path, { text, got: got as Got<never> });
  const [oldest] = known.keys();
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
  return got;
}

/** The document at a path, read again whenever the reader comes to it, or for another `version`. */
export function useDocument<T>(
  path: string,
  parse: Parse<T>,
  missing: string,
  version = 0,
): Got<T> {
  const [read_, setRead] = useState<{ path: string; got: Got<T> }>({ path: "", got: null });
  useEffect(() => {
    let here = true;
    void read(path, parse, missing).then((got) => here && setRead({ path, got }));
    return () => {
      here = false;
    };
  }, [path, version]);
  if (read_.path === path) return read_.got;
  return (known.get(path)?.got as Got<T> | undefined) ?? null;
}
