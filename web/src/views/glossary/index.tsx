/** What the words and columns mean, and how verdicts are reached. */

import "./glossary.css";
import type { Page } from "#page";
import { marginText } from "../../data/page";
import { usePage, type View } from "../../shared/page";

type Term = [term: string, meaning: string];

const WORDS: Term[] = [
  [
    "index, rel, total",
    "size of indexes, of tables, and of both with everything that belongs to them, at step end",
  ],
  [
    "trial, block",
    "a trial is one variant going once through all steps from a known state; " +
      "a block runs every variant once, in random order",
  ],
  ["dop", "number of concurrent clients"],
  ["stall", "seconds with throughput far below the median of their step"],
  [
    "profile",
    "samples of the call stacks of the DBMS’s processes, taken by perf outside the measured " +
      "time; a flamegraph draws each function as wide as its share of the samples, above " +
      "the function that called it",
  ],
  [
    "absolute figures",
    "geometric means over the paired blocks if there are relative figures, otherwise medians",
  ],
];

/** Words of the part about instruction counts, if the report has it. */
const COUNTS: Term[] = [
  [
    "instruction count",
    "instructions that the server’s process executed for a statement, counted exactly under " +
      "Callgrind, a simulator that sees every instruction: free of the machine’s noise, but " +
      "not a measure of time",
  ],
  [
    "phase",
    "the part of a statement in which instructions were executed: parse, analyze, plan, " +
      "execute, other",
  ],
  ["own, inclusive", "instructions in a function itself; in it and in everything it called"],
];

function Terms({ title, terms }: { title: string; terms: Term[] }) {
  return (
    <div>
      <h3>{title}</h3>
      <dl class="terms">
        {terms.map(([term, meaning]) => (
          <div>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The columns of tables, as the Rust side explains them. */
function columns({ metrics }: Page): Term[] {
  return metrics.map(({ name, meaning, published }) => [
    name,
    published === "" ? meaning : `${meaning} (published as ${published})`,
  ]);
}

function Glossary() {
  const page = usePage();
  const margin = marginText(page);
  const verdicts: Term[] = [
    ["▼ regression", `the whole interval lies below 1 − ${margin}`],
    ["▲ improvement", `the whole interval lies above 1 + ${margin}`],
    [
      "= equivalent",
      `the whole interval lies within ±${margin}; this includes certain differences smaller than ` +
        "that",
    ],
    [
      "? inconclusive",
      "none of these, or fewer than 6 blocks: the sentence says how many more are needed",
    ],
  ];
  const words = [...columns(page), ...WORDS, ...(page.counts ? COUNTS : [])];
  return (
    <>
      <p class="prose">
        A verdict comes from pairs: in every block, the logarithm of the variant’s throughput minus
        that of the base. Their mean gives the ratio, and their spread the interval (Student’s t
        over blocks). The interval is then compared with the margin. Seconds within a trial never
        count as independent evidence.
      </p>
      <div class="columns">
        <Terms title="Verdicts" terms={verdicts} />
        <Terms title="Columns and words" terms={words} />
      </div>
    </>
  );
}

export const glossary: View = {
  id: "glossary",
  name: "Glossary",
  title: () => "Glossary",
  applies: () => true,
  Body: Glossary,
};
