/** Results over versions, commits or dates: a plot per step with its trials, their medians, levels
 * and change points. */

import "./history.css";
import { useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { HistoryDocument, HistoryRun } from "#page";
import { Chart } from "../../shared/chart";
import { Remarks } from "../../shared/controls";
import { useNear } from "../../shared/near";
import { usePage, type View } from "../../shared/page";
import { TipTable } from "../../shared/tip";
import { Swatch } from "../../shared/variant";
import { count, moment, ratio, short } from "../../text/format";
import { changeWords, headroom, historyOptions } from "./options";
import { isAlone, levels, type Panel, panels } from "./panels";

const HEIGHT = 236;

const RUNS: Record<string, string> = {
  version: "a version of the DBMS",
  date: "an experiment",
  commit: "a commit",
};

/** Where a run leads, on a page that has its experiments. */
export interface HistoryLinks {
  /** Goes to a run's experiment. */
  open: (run: HistoryRun) => void;
  /** Name and address of each of its experiments. */
  links: (run: HistoryRun) => [name: string, address: string][];
}

interface PlotProps {
  history: HistoryDocument;
  panel: Panel;
  links?: HistoryLinks | undefined;
}

/** What a plot draws, for tests and for the console. */
function inspection(history: HistoryDocument, { name, dop, runs, followed, changes }: Panel) {
  const run = (place: number): string => history.runs[place]?.name ?? "?";
  return {
    step: name,
    dop,
    runs: runs.map(run),
    lines: followed.map(({ line, step }) => ({
      name: line.line,
      points: step.points.length,
      trials: step.points.reduce((sum, { trials }) => sum + trials.length, 0),
      levels: levels(step).length,
    })),
    changes: changes.map(({ followed: { line }, change }) => ({
      line: line.line,
      at: `${run(change.before[1])} → ${run(change.run)}`,
      text: changeWords(change).join(" "),
    })),
  };
}

/** What is said of a run under the pointer. */
function RunTip({ history, panel, place }: PlotProps & { place: number }) {
  const number = panel.runs[place];
  const run = number === undefined ? undefined : history.runs[number];
  if (!run) return null;
  return (
    <TipTable
      title={run.name}
      about={moment(run.started)}
      rows={panel.followed.flatMap(({ line, step, look }) => {
        const point = step.points.find((one) => one.run === number);
        if (!point) return [];
        const other = point.versions.some((version) => version !== run.name);
        const name = (
          <>
            <Swatch variant={look} />
            {line.line}
            {other && <span class="minor"> {point.versions.join(", ")}</span>}
          </>
        );
        const trials = count(point.trials.length, "trial");
        return [[name, short(point.median), ratio(point.relative), trials]];
      })}
    />
  );
}

/** Links to the experiments of a run. */
function RunLinks({ run, links }: { run: HistoryRun | undefined; links: HistoryLinks }) {
  if (!run) return null;
  return (
    <>
      {links.links(run).map(([name, address]) => (
        <>
          {" "}
          <a key={address} href={address}>
            {name}
          </a>
        </>
      ))}
    </>
  );
}

/** What the plot shows, as a list of runs that lead to their experiments. */
function Runs({ history, panel, links }: PlotProps & { links: HistoryLinks }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="runs" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{count(panel.runs.length, "run")}</summary>
      {open && (
        <ol>
          {panel.runs.map((place) => (
            <li key={place}>
              {history.runs[place]?.name}{" "}
              {panel.followed.map(({ line, step }) => {
                const point = step.points.find(({ run }) => run === place);
                return point ? ` ${line.line} ${short(point.median)}` : "";
              })}
              <RunLinks run={history.runs[place]} links={links} />
            </li>
          ))}
        </ol>
      )}
    </details>
  );
}

function Plot({ history, panel, links }: PlotProps) {
  const page = usePage();
  const { name, runs, followed, changes } = panel;
  const room = useRef<HTMLDivElement>(null);
  const near = useNear(room, true);
  const height = HEIGHT + headroom(panel);
  const said = changes.map(({ change }) => change.sentence).join(". ") || "No change point";
  const medians = followed.map(({ step }) => {
    const byRun = new Map(step.points.map(({ run, median }) => [run, median]));
    return runs.map((run) => byRun.get(run) ?? null);
  });
  return (
    <div ref={room} style={`min-height:${height}px`}>
      {near && (
        <Chart
          label={`${name} by ${history.order}, ${count(runs.length, "run")}. ${said}.`}
          height={height}
          data={[[...runs.keys()], ...medians] as uPlot.AlignedData}
          options={() => historyOptions(page, history, panel)}
          tip={(place) => <RunTip history={history} panel={panel} place={place} />}
          onPick={
            links &&
            ((place) => {
              const run = history.runs[panel.runs[place] ?? -1];
              if (run) links.open(run);
            })
          }
          kind="history"
          inspect={() => inspection(history, panel)}
        />
      )}
    </div>
  );
}

function Step({ history, panel, links, several }: PlotProps & { several: boolean }) {
  const { name, dop, unit, place, followed, changes } = panel;
  const doubtful = followed.flatMap(({ step }) => step.doubtful);
  const many = followed.length > 1;
  return (
    <section
      class="history-step"
      data-step={name}
      data-dop={dop}
      aria-label={`History of ${name}${several ? ` dop ${dop}` : ""}`}>
      <div class="history-head">
        <h3>
          {name}
          {several && <span class="minor"> dop {dop}</span>}
        </h3>
        <span class="unit">{history.metric === "o/s" ? `${unit}/s` : history.metric}</span>
        {place !== "" && <span class="minor">{place}</span>}
        {many && (
          <span class="history-lines">
            {followed.map(({ line, look }) => (
              <span class="value">
                <Swatch variant={look} />
                {line.line}
              </span>
            ))}
          </span>
        )}
      </div>
      {isAlone(panel) ? (
        <p class="alone">
          {followed.map(({ line, step, look }) => (
            <span class="value">
              <Swatch variant={look} />
              {line.line} {short(step.points[0]?.median)}
            </span>
          ))}
        </p>
      ) : (
        <Plot history={history} panel={panel} links={links} />
      )}
      <div class="changes">
        <Remarks
          lines={changes.map(({ followed: { look }, change }) => (
            <>
              {many && <Swatch variant={look} />}
              {change.sentence}
              {links && (
                <>
                  {": "}
                  <RunLinks run={history.runs[change.before[1]]} links={links} /> →
                  <RunLinks run={history.runs[change.run]} links={links} />
                  {change.bisect !== undefined && (
                    <details class="search">
                      <summary>search for the commit</summary>
                      <code>{change.bisect}</code>
                      <p class="minor">Name the repository, and the tags of the versions.</p>
                    </details>
                  )}
                </>
              )}
            </>
          ))}
        />
      </div>
      {links && <Runs history={history} panel={panel} links={links} />}
      {doubtful.length > 0 && (
        <details class="doubtful">
          <summary>{count(doubtful.length, "doubtful change")}</summary>
          <p class="minor">Noise that drifts like this history could cause these by itself.</p>
          <Remarks lines={doubtful.map(({ sentence }) => sentence)} />
        </details>
      )}
    </section>
  );
}

/** What the plots show. */
function about({ order }: HistoryDocument, changes: number): string {
  const cut = "a dashed line between two, with the size and its 95% interval above";
  if (order === "bisection") {
    const found = changes === 0 ? "No change was found." : `A change that was found is ${cut}.`;
    return (
      "Small dots are looks, also at another with the same code; large ones their median; bars " +
      `are the levels in between. ${found}`
    );
  }
  const dots = "Small dots are trials, large ones their median; a run is";
  const found =
    changes === 0
      ? "No change point was found."
      : `${count(changes, "change point")} (E-divisive): ${cut}; bars are the levels in between.`;
  return `${dots} ${RUNS[order] ?? "a point of it"}. ${found}`;
}

/** The plots of a history, inside a page's context. */
export function History({ history, links }: Pick<PlotProps, "history" | "links">) {
  const found = panels(usePage(), history);
  const several = found.some(({ dop }) => dop !== found[0]?.dop);
  const changes = found.reduce((sum, panel) => sum + panel.changes.length, 0);
  return (
    <>
      <p class="note">{about(history, changes)} The y axes do not start at 0.</p>
      <Remarks lines={history.notes} strong />
      <div class="history-plots">
        {found.map((panel) => (
          <Step
            key={`${panel.place} ${panel.name} ${panel.dop}`}
            history={history}
            panel={panel}
            links={links}
            several={several}
          />
        ))}
      </div>
    </>
  );
}

function Body() {
  const { history } = usePage();
  return history ? <History history={history} /> : null;
}

export const history: View = {
  id: "history",
  name: "History",
  title: ({ history }) =>
    history?.order === "bisection" ? "What was looked at" : `History by ${history?.order}`,
  applies: (page) => page.history !== undefined,
  Body,
};
