/** How the steps of a workload went on a machine, over versions or dates. */

import "./history.css";
import type { HistoriesDocument, HistoryDocument, HistoryEntry, HistoryRun } from "#page";
import { Heads, Scroll, Select } from "../../../shared/controls";
import { PageContext } from "../../../shared/page";
import { TipBox } from "../../../shared/tip";
import { count, moment } from "../../../text/format";
import { History, type HistoryLinks } from "../../../views/history";
import { parseDocument, useDocument } from "../../documents";
import { Loaded, Title } from "../../frame";
import { go } from "../../navigate";
import { type ChosenHistory, experimentAddress, historyAddress } from "../../route";
import { NO_EXPERIMENT } from "./none";

/** The numbers of the experiments of a run, which are named "12 nightly". */
function numbers({ experiments }: HistoryRun): number[] {
  return experiments.map((name) => Number.parseInt(name, 10)).filter(Number.isInteger);
}

const LINKS: HistoryLinks = {
  open: (run) => {
    const id = numbers(run).at(-1);
    if (id !== undefined) go(experimentAddress(id));
  },
  links: (run) => numbers(run).map((id) => [`#${id}`, experimentAddress(id)]),
};

function Index({ histories }: { histories: HistoryEntry[] }) {
  if (histories.length === 0)
    return <p class="lead">No experiment has results that could be followed over time.</p>;
  return (
    <Scroll name="Histories">
      <table class="data">
        <thead>
          <tr>
            <Heads
              of={[
                ["Workload", "label"],
                ["Machine", "label"],
                ["Experiments"],
                ["The last began", "label"],
              ]}
            />
          </tr>
        </thead>
        <tbody>
          {histories.map(({ workload, machine, label, machine_name, experiments, last }) => (
            <tr key={`${workload} ${machine}`}>
              <th scope="row">
                <a href={historyAddress({ workload, machine })}>{label}</a>
              </th>
              <td class="label">{machine_name}</td>
              <td>{experiments.length}</td>
              <td class="label">{moment(last)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Plots({ entry, chosen }: { entry: HistoryEntry; chosen: ChosenHistory }) {
  const { workload, machine } = entry;
  const order = entry.orders.includes(chosen.order) ? chosen.order : (entry.orders[0] ?? "date");
  const metric = entry.metrics.find(({ name }) => name === chosen.metric) ?? entry.metrics[0];
  const got = useDocument(
    `api/v1/history/${workload}/${machine}/${order}/${metric?.key}.json`,
    parseDocument<HistoryDocument>,
    "This history is not there. Experiments may have been removed.",
  );
  const change = (to: Partial<ChosenHistory>, instead = false): void =>
    go(historyAddress({ ...chosen, workload, machine, ...to }), instead);
  return (
    <>
      <div class="bar filters">
        <Select
          label="of"
          name="Metric"
          control="metric"
          value={metric?.name ?? ""}
          options={entry.metrics.map(({ name }): [string, string] => [name, name])}
          onChange={(name) => change({ metric: name })}
        />
        <Select
          label="by"
          name="Order"
          control="order"
          value={order}
          options={entry.orders.map((one): [string, string] => [one, one])}
          onChange={(one) => change({ order: one })}
        />
        <input
          type="search"
          aria-label="Only steps with this in their name"
          placeholder="step"
          data-control="step"
          value={chosen.step}
          onInput={(event) => change({ step: event.currentTarget.value }, true)}
        />
      </div>
      {metric && (
        <p class="note">
          {metric.name}: {metric.meaning}.
        </p>
      )}
      <Loaded got={got}>
        {(history) => (
          <PageContext.Provider value={NO_EXPERIMENT}>
            <h2 class="offscreen">Steps</h2>
            <History
              key={`${order} ${metric?.name}`}
              history={only(history, chosen.step)}
              links={LINKS}
            />
            <TipBox />
          </PageContext.Provider>
        )}
      </Loaded>
    </>
  );
}

/** Without the steps that do not have this in their names. */
function only(history: HistoryDocument, step: string): HistoryDocument {
  if (step === "") return history;
  const lines = history.lines.map((line) => ({
    ...line,
    steps: line.steps.filter(({ name }) => name.toLowerCase().includes(step.toLowerCase())),
  }));
  return { ...history, lines };
}

function Shown({ chosen, all }: { chosen: ChosenHistory; all: HistoriesDocument }) {
  const { workload, machine } = chosen;
  if (workload === "" && machine === "") {
    return (
      <>
        <Title name="History" />
        <Index histories={all.histories} />
      </>
    );
  }
  const entry = all.histories.find((one) => one.workload === workload && one.machine === machine);
  if (!entry) {
    return (
      <>
        <Title name="History" />
        <p class="lead">There is no such history here. These are there:</p>
        <Index histories={all.histories} />
      </>
    );
  }
  return (
    <>
      <Title name={`History of ${entry.label}`} />
      <p class="lead">
        {count(entry.experiments.length, "experiment")} on{" "}
        <a href={`./?view=machines#${machine}`}>{entry.machine_name}</a>.{" "}
        <a href={historyAddress({})}>Other histories</a>
      </p>
      <Plots key={`${workload} ${machine}`} entry={entry} chosen={chosen} />
    </>
  );
}

export function HistoryPage({ chosen }: { chosen: ChosenHistory }) {
  const got = useDocument(
    "api/v1/history.json",
    parseDocument<HistoriesDocument>,
    "There are no histories here.",
  );
  return <Loaded got={got}>{(all) => <Shown chosen={chosen} all={all} />}</Loaded>;
}
