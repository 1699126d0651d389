/** The lines of a plan that another plan of the same statement does not have. */

export interface PlanLine {
  text: string;
  /** The other plan has no such line, whatever its values. */
  differs: boolean;
}

/** A line without its place in the tree and without values. */
function essence(line: string): string {
  return line
    .replace(/^[\s│├└─|+`-]*(->)?\s*/, "")
    .replace(/'(?:[^']|'')*'/g, "?")
    .replace(/(?<![\w$])[-+]?\d+(\.\d+)?(e[-+]?\d+)?/gi, "?")
    .trim();
}

/** The lines of `own`; each line of `other` accounts for one of them. */
export function marked(own: string, other: string): PlanLine[] {
  const left = new Map<string, number>();
  for (const line of other.split("\n")) {
    const key = essence(line);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  return own.split("\n").map((text) => {
    const key = essence(text);
    const known = left.get(key) ?? 0;
    left.set(key, known - 1);
    return { text, differs: key !== "" && known <= 0 };
  });
}
