/** Exact instruction counts: a bar of phases for every kind and variant, and the
 * functions behind them. */

import "./counts.css";
import { useState } from "preact/hooks";
import type { PageCounts, PageKind, Table } from "#page";
import { Remarks, Select } from "../../shared/controls";
import { CopyTable } from "../../shared/copy";
import { grouped } from "../../shared/group";
import { usePage, type View } from "../../shared/page";
import { plain, repeatability } from "../../text/exact";
import { count as counted, moment, NOTHING } from "../../text/format";
import { Bars, CountedName, phaseNames } from "./bars";
import { Events } from "./events";
import { FunctionTable } from "./functiontable";

/** What the bars show, as a table to copy. */
function asTable(counts: PageCounts, kinds: PageKind[], title: string): Table {
  const names = phaseNames(kinds);
  return {
    id: "counts",
    title,
    section: "other",
    legend: [
      `instructions per ${counts.noun}, in total and in each phase; relative to the base; ` +
        "repeatability: ± of the mean of all counts, 95%",
    ],
    columns: ["kind", "variant", "instructions", "per row", "relative", "repeatability", ...names],
    rows: kinds.flatMap(({ kind, counts: all }) =>
      all.map((count) => ({
        label: kind,
        cells: [
          counts.variants[count.variant] ?? "",
          plain(count.total / count.statements),
          count.rows > 0 ? plain(count.total / count.rows) : NOTHING,
          count.relative === null ? NOTHING : count.relative.toFixed(4),
          repeatability(count),
          ...names.map((name) => {
            const phase = count.phases.find(([other]) => other === name);
            return phase ? plain(phase[1] / count.statements) : NOTHING;
          }),
        ],
      })),
    ),
  };
}

/** What changed in a variant; the sentence's subject is the variant itself. */
function Sentence({
  counts,
  variant,
  sentence,
}: PageCounts["sentences"][number] & { counts: PageCounts }) {
  const rest = sentence.startsWith(variant) ? sentence.slice(variant.length).trimStart() : sentence;
  return (
    <li>
      <strong>
        <CountedName counts={counts} variant={counts.variants.indexOf(variant)} />
      </strong>{" "}
      {rest}.
    </li>
  );
}

function About({ counts }: { counts: PageCounts }) {
  const { experiment, started, finished } = counts;
  return (
    <>
      <p class="note">
        Exact: instructions executed by the{" "}
        {counts.noun === "call" ? "library" : "server’s process"}, counted under Callgrind at least
        twice. Of {experiment}, {moment(started)}
        {!finished && ", not finished"}. A difference counts if it exceeds the repeatability of both
        sides together, and 0.01%. Bars of one kind share a scale.
      </p>
      {counts.warnings.length > 0 && (
        <div class="counts-warnings">
          <Remarks
            strong
            lines={counts.warnings.map(({ code, text }) => (
              <>
                <span class="minor">{code.replace(/[-_]/g, " ")}: </span>
                {text}
              </>
            ))}
          />
        </div>
      )}
      {counts.sentences.length > 0 && (
        <ul class="counts-words">
          {counts.sentences.map((sentence) => (
            <Sentence counts={counts} {...sentence} />
          ))}
        </ul>
      )}
    </>
  );
}

function Counts({ counts }: { counts: PageCounts }) {
  const groups = grouped(counts.kinds, ({ protocol, place }) =>
    counts.noun === "call" ? `calls of the ${place}` : `${protocol} protocol, in the ${place}`,
  );
  const [chosen, choose] = useState(groups[0]?.[0] ?? "");
  const kinds = groups.find(([name]) => name === chosen)?.[1] ?? counts.kinds;
  const title = `Instructions per ${counts.noun}, ${chosen}`;
  return (
    <>
      <About counts={counts} />
      <div class="bar">
        {groups.length > 1 ? (
          <Select
            label="protocol"
            name="Protocol whose counts are shown"
            control="counts-protocol"
            value={chosen}
            options={groups.map(([name]) => [name, name])}
            onChange={choose}
          />
        ) : (
          <span class="pick">{chosen}</span>
        )}
        <span class="minor small">
          {counted(counts.kinds.length, "count")} of {counted(counts.variants.length, "variant")}
        </span>
        <CopyTable name="the counts" table={() => asTable(counts, kinds, title)} />
      </div>
      <div class="counts-box">
        <Bars counts={counts} kinds={kinds} />
      </div>
      <Events counts={counts} kinds={kinds} />
      <FunctionTable counts={counts} />
    </>
  );
}

function Body() {
  const { counts } = usePage();
  return counts ? <Counts counts={counts} /> : null;
}

export const counts: View = {
  id: "counts",
  name: "Instruction counts",
  title: () => "Instruction counts",
  applies: (page) => (page.counts?.kinds.length ?? 0) > 0,
  Body,
};
