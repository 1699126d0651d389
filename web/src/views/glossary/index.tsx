/** What the words and columns mean, and how a verdict comes about. */

import "./glossary.css";
import type { Page } from "#page";
import { marginText } from "../../data/page";
import { usePage, type View } from "../../shared/page";

type Term = [term: string, meaning: string];

const WORDS: Term[] = [
  [
    "index, rel, total",
    "size of indexes, of tables, and of both with all that belongs to them, at the end of the step",
  ],
  [
    "trial, block",
    "a trial is one variant going once through all steps from a known state; " +
      "a block is every variant once, in random order",
  ],
  ["dop", "number of concurrent clients"],
  ["stall", "seconds with throughput far under the median of their step"],
  [
    "profile",
    "samples of the call stacks of the DBMS’s processes, taken by perf outside of what is " +
      "measured; a flamegraph draws each function as wide as its share of the samples, above " +
      "the function that called it",
  ],
  [
    "absolute figures",
    "geometric means over the paired blocks where relative ones stand beside them, else medians",
  ],
];

/** Words of the part about instruction counts, where the report has it. */
const COUNTS: Term[] = [
  [
    "instruction count",
    "instructions that the server’s process executed for a statement, counted exactly under " +
      "Callgrind, a simulator that sees every instruction: no noise of the machine is in it, " +
      "and no time either",
  ],
  [
    "phase",
    "the part of a statement in which instructions were executed: parse, analyze, plan, " +
      "execute, other",
  ],
  ["own, inclusive", "instructions in a function itself; in it and in all that it called"],
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
      `the whole interval lies within ±${margin}; a difference that is sure but smaller than ` +
        "that counts here too",
    ],
    ["? inconclusive", "none of these: more blocks are needed, and the sentence says how many"],
  ];
  const words = [...columns(page), ...WORDS, ...(page.counts ? COUNTS : [])];
  return (
    <>
      <p class="prose">
        A verdict comes from pairs: in every block the logarithm of the variant’s throughput minus
        that of the base; their mean gives the ratio, their scatter the 95% interval (Student’s t
        over blocks). The interval is then held against the margin; seconds within a trial are never
        taken for independent evidence.
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
