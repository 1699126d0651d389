/** All experiments, and what is found as one types. */

import "./experiments.css";
import { useLayoutEffect, useState } from "preact/hooks";
import type { ExperimentsDocument } from "#page";
import { Select } from "../../../shared/controls";
import { count } from "../../../text/format";
import { BriefTable, machineNames } from "../../briefs";
import { parseDocument, useDocument } from "../../documents";
import { Loaded, Title } from "../../frame";
import { go } from "../../navigate";
import { addressOf, type Filter, NO_FILTER } from "../../route";
import { choices, filtered } from "./filter";

/** Rows that are shown at first, and how many more at a time. */
const ROWS = 100;

function change(filter: Filter, to: Partial<Filter>, typing = false): void {
  go(addressOf({ page: "experiments", filter: { ...filter, ...to } }), typing);
}

function Filters({ filter, all }: { filter: Filter; all: ExperimentsDocument }) {
  const found = choices(all.experiments, filter, all.machines);
  const any = (of: string): [string, string] => ["", `any ${of}`];
  const plain = (values: readonly string[]) =>
    values.map((value): [string, string] => [value, value]);
  const choose = (key: keyof Filter, options: [string, string][], to: Partial<Filter> = {}) => (
    <Select
      name={`Only this ${key}`}
      control={key}
      value={filter[key]}
      options={[any(key), ...options]}
      onChange={(value) => change(filter, { ...to, [key]: value })}
    />
  );
  return (
    <search class="bar filters">
      <input
        type="search"
        aria-label="Words in names, versions, workloads and machines"
        placeholder="search"
        data-control="q"
        value={filter.q}
        onInput={(event) => change(filter, { q: event.currentTarget.value }, true)}
      />
      {choose("workload", plain(found.workload))}
      {choose("system", plain(found.system), { version: "" })}
      {choose("version", plain(found.version))}
      {choose("machine", found.machine)}
      {choose("verdict", plain(found.verdict))}
      {Object.values(filter).some((value) => value !== "") && (
        <button type="button" class="quiet" onClick={() => change(NO_FILTER, {})}>
          clear
        </button>
      )}
    </search>
  );
}

function List({ filter, all }: { filter: Filter; all: ExperimentsDocument }) {
  const machines = machineNames(all.machines);
  const found = filtered(all.experiments, filter, machines);
  const [rows, setRows] = useState(ROWS);
  const address = addressOf({ page: "experiments", filter });
  useLayoutEffect(() => setRows(ROWS), [address]);
  const said =
    found.length === all.experiments.length
      ? count(found.length, "experiment")
      : `${found.length} of ${count(all.experiments.length, "experiment")}`;
  return (
    <>
      <Filters filter={filter} all={all} />
      <p class="note" role="status">
        {said}
      </p>
      {found.length > 0 && (
        <BriefTable name="Experiments" briefs={found.slice(0, rows)} machines={machines} />
      )}
      {found.length > rows && (
        <p>
          <button type="button" class="quiet" onClick={() => setRows(rows + ROWS)}>
            show {Math.min(ROWS, found.length - rows)} more
          </button>
        </p>
      )}
    </>
  );
}

export function ExperimentsPage({ filter }: { filter: Filter }) {
  const got = useDocument(
    "api/v1/experiments.json",
    parseDocument<ExperimentsDocument>,
    "There is no list of experiments here.",
  );
  return (
    <>
      <Title name="Experiments" />
      <Loaded got={got}>{(all) => <List filter={filter} all={all} />}</Loaded>
    </>
  );
}
