/** The tables of `steelyard compare`, by section in tabs. */

import "./tables.css";
import { useRef, useState } from "preact/hooks";
import type { Section, Table } from "#page";
import { onlyCounted } from "../../data/page";
import { Select } from "../../shared/controls";
import { grouped } from "../../shared/group";
import { usePage, type View } from "../../shared/page";
import { usePrinting } from "../../shared/print";
import { TableView } from "../../shared/table";
import { count } from "../../text/format";

const TITLES: Record<Section, string> = {
  absolute: "Absolute",
  relative: "Relative",
  verdicts: "Verdicts",
  summary: "Summary",
  rates: "Rates",
  latency: "Response time",
  hardware: "Per operation",
  size: "Size",
  counters: "Counters",
  other: "Other",
};

/** From this many tables on a section gets a chooser of steps. */
const MANY = 6;

/** What the chooser offers in addition to the steps. */
const GENERAL = "";
const ALL = "*";

/** The tables of one section, with a chooser of steps where there are many. */
function Panel({ tables, shown }: { tables: Table[]; shown: boolean }) {
  const printing = usePrinting();
  const byStep = grouped(tables, (table) =>
    table.step === undefined ? GENERAL : `=${table.step}`,
  );
  const steps = byStep.filter(([step]) => step !== GENERAL);
  const [chosen, choose] = useState(byStep.length > steps.length ? GENERAL : steps[0]?.[0]);
  if (!shown && !printing) return null;
  const several = tables.length > MANY && steps.length > 1;
  const all = printing || !several || chosen === ALL;
  return (
    <>
      {several && (
        <div class="bar">
          <Select
            label="step"
            name="Step whose tables are shown"
            control="tables-step"
            value={chosen ?? ALL}
            options={[
              ...(byStep.length > steps.length
                ? [[GENERAL, "over all steps"] as [string, string]]
                : []),
              ...steps.map(([step]): [string, string] => [step, step.slice(1)]),
              [ALL, `all ${count(tables.length, "table")}`],
            ]}
            onChange={choose}
          />
        </div>
      )}
      {(all ? tables : (byStep.find(([step]) => step === chosen)?.[1] ?? [])).map((table) => (
        <TableView key={table.id} table={table} />
      ))}
    </>
  );
}

/** Tabs that follow the usual keys. */
function Tables() {
  const groups = grouped(usePage().tables, ({ section }) => section);
  const order = Object.keys(TITLES) as Section[];
  groups.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const [selected, select] = useState(0);
  const tabs = useRef<HTMLDivElement>(null);
  if (groups.length === 0) return <p class="note">The report carries no tables.</p>;
  const walk = (event: KeyboardEvent): void => {
    const places: Record<string, number> = {
      ArrowRight: selected + 1,
      ArrowLeft: selected - 1,
      Home: 0,
      End: groups.length - 1,
    };
    const target = places[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const place = (target + groups.length) % groups.length;
    select(place);
    (tabs.current?.children[place] as HTMLElement | undefined)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Kinds of tables" ref={tabs} onKeyDown={walk}>
        {groups.map(([section], place) => (
          <button
            type="button"
            role="tab"
            id={`tab-${section}`}
            aria-controls={`panel-${section}`}
            aria-selected={place === selected}
            tabIndex={place === selected ? 0 : -1}
            onClick={() => select(place)}>
            {TITLES[section]}
          </button>
        ))}
      </div>
      {groups.map(([section, tables], place) => (
        <div
          role="tabpanel"
          id={`panel-${section}`}
          aria-labelledby={`tab-${section}`}
          data-section={section}
          hidden={place !== selected}>
          <Panel tables={tables} shown={place === selected} />
        </div>
      ))}
    </>
  );
}

export const tables: View = {
  id: "tables",
  name: "Tables",
  title: () => "Tables",
  applies: (page) => !onlyCounted(page),
  Body: Tables,
};
