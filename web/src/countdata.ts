/** The shapes of exact instruction counts in the page's data; the other side is `crates/report/src/count/page.rs`. */

export type CountVerdict = "regression" | "improvement" | "equivalent" | "same";

/** Functions column by column; `id` are places in `Counts.functions`. Figures are those of all statements. */
export interface FunctionColumns {
  id: number[];
  own: number[];
  inclusive: number[];
  calls: number[];
}

/** The count of one variant. Instructions are those of all statements. */
export interface Count {
  variant: number;
  statements: number;
  /** 0: the kind has no rows. */
  rows: number;
  instructions: number;
  /** ± of the mean of all counts, 95%, as a fraction; null for a single count. */
  repeatability: number | null;
  /** Null for the base, and where it has no such count. */
  relative: number | null;
  verdict: CountVerdict | null;
  /** Names and instructions, in order; empty where they are not known. */
  phases: [string, number][];
  functions: FunctionColumns;
}

/** Statements of one kind, sent and counted in one way. */
export interface CountKind {
  kind: string;
  protocol: string;
  place: string;
  counts: Count[];
  /** How many small functions the page leaves out. */
  left_out: number;
}

export interface Counts {
  experiment: string;
  started: string;
  finished: boolean;
  margin: number;
  variants: string[];
  base: number;
  kinds: CountKind[];
  /** Name and object. */
  functions: [string, string][];
  sentences: { variant: string; sentence: string }[];
  warnings: { code: string; text: string }[];
}

function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

/** The counts of a page, where it has any; lists that are missing become empty. */
export function readCounts(counts: Partial<Counts> | null | undefined): { counts?: Counts } {
  if (typeof counts !== "object" || counts === null) return {};
  const kinds = list<CountKind>(counts.kinds).map((kind) => ({
    ...kind,
    left_out: kind.left_out ?? 0,
    counts: list<Count>(kind.counts).map((count) => ({
      ...count,
      relative: count.relative ?? null,
      verdict: count.verdict ?? null,
      phases: list<[string, number]>(count.phases),
      functions: { id: list<number>(count.functions?.id), own: list<number>(count.functions?.own), inclusive: list<number>(count.functions?.inclusive), calls: list<number>(count.functions?.calls) },
    })),
  }));
  return {
    counts: {
      experiment: counts.experiment ?? "",
      started: counts.started ?? "",
      finished: counts.finished ?? true,
      margin: counts.margin ?? 0.02,
      variants: list(counts.variants),
      base: counts.base ?? 0,
      kinds,
      functions: list(counts.functions),
      sentences: list(counts.sentences),
      warnings: list(counts.warnings),
    },
  };
}
