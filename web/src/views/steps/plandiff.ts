/** The lines of a plan that another plan of the same statement does not have. */

export interface PlanLine {
  text: string;
  /** The other plan has no such line, whatever its values. */
  differs: boolean;
}

/** A line without its place in the tree, and without values, as the server's plans are compared. */
function essence(line: string): string {
  return line
    .replace(/^(?:[\s│├└─|+`]|->)*/, "")
    .replace(/ = ANY.*/, " = ANY")
    .replace(/'(?:[^']|'')*'/g, "?")
    .replace(/\d+(\.\d+)?/g, "?")
    .trim();
}

/** The lines of `own`; each line of `other` accounts for one of them. */
function against(own: string, other: string): PlanLine[] {
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

const differing = (lines: PlanLine[]): number => lines.filter(({ differs }) => differs).length;

/** The lines of a plan, compared with the one of the others that is most like it. */
export function marked(own: string, others: string[]): PlanLine[] {
  const compared = others.map((other) => against(own, other));
  compared.sort((one, other) => differing(one) - differing(other));
  return compared[0] ?? own.split("\n").map((text) => ({ text, differs: false }));
}
