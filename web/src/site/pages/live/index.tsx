/** The runs under way: how far each is, how its comparisons narrow, what it says. */

import "./live.css";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LiveDocument, LiveRun } from "#page";
import { count } from "../../../text/format";
import { parseDocument, useDocument } from "../../documents";
import { Loaded, Title } from "../../frame";
import { experimentAddress } from "../../route";
import { TokenForm } from "../../token";
import { keyOf, lasted, useLive, useNow } from "./follow";
import { Narrowing } from "./narrowing";

/** How far a run is. */
function Progress({ run, now }: { run: LiveRun; now: number }) {
  const { budget, used, done, all, part, began_ms } = run;
  const label = `Progress of ${nameOf(run)}`;
  const parts = all === null ? count(done, part) : `${done} of ${count(all, part)}`;
  const [value, max] = budget === null ? [done, all] : [used, budget];
  return (
    <p class="about facts">
      {max !== null && <progress max={max} value={value} aria-label={label} />}
      <span>for {lasted(now - began_ms)}</span>
      {budget !== null && (
        <span>
          {lasted(used * 1000)} of {lasted(budget * 1000)} used
        </span>
      )}
      <span>{parts}</span>
    </p>
  );
}

/** What it is at, and what comes next. */
function Doing({ run, now }: { run: LiveRun; now: number }) {
  const { at, step, next } = run;
  const seconds = step?.seconds ?? null;
  const of = seconds === null ? "" : ` of ${lasted(seconds * 1000)}`;
  return (
    <p class="facts">
      {at !== "" && <span>{at}</span>}
      {step !== null && (
        <span>
          <strong>{step.name}</strong> for {lasted(now - step.began_ms)}
          {of}
        </span>
      )}
      {next !== null && <span class="minor">next: {next}</span>}
    </p>
  );
}

/** The latest lines, of which the last ones are in view unless the reader has gone elsewhere. */
function Log({ lines, name }: { lines: string[]; name: string }) {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (box.current && follows.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <details open>
      <summary>{count(lines.length, "line")} of its log</summary>
      <pre
        class="log"
        ref={box}
        role="log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        aria-label={`Log of ${name}`}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollTop + clientHeight >= scrollHeight - 20;
        }}>
        {lines.join("\n")}
      </pre>
    </details>
  );
}

function underWay(runs: number): string {
  return runs === 0 ? "No run is" : `${count(runs, "run")} ${runs === 1 ? "is" : "are"}`;
}

function nameOf({ name, process }: LiveRun): string {
  return name === "" ? `process ${process}` : name;
}

function Run({ run, now }: { run: LiveRun; now: number }) {
  const { process, machine, began_ms, experiment, intervals, warnings, log } = run;
  const [name, id] = [nameOf(run), `run-${process}-${began_ms}`];
  return (
    <section class="run" aria-labelledby={id} data-process={process}>
      <h2 id={id}>
        {experiment === null ? name : <a href={experimentAddress(experiment)}>{name}</a>}{" "}
        {experiment !== null && <span class="minor">#{experiment}</span>}
        {machine !== null && <span class="minor">on {machine}</span>}
      </h2>
      <Progress run={run} now={now} />
      <Doing run={run} now={now} />
      {intervals.length > 0 && <Narrowing rows={intervals} name={`Comparisons of ${name}`} />}
      {warnings.map((warning) => (
        <p key={warning} class="warned">
          warning: {warning}
        </p>
      ))}
      {log.length > 0 && <Log lines={log} name={name} />}
      {machine === null && (
        <TokenForm
          name="stop this run"
          verb="Stop"
          path={`api/v1/live/${process}/stop`}
          body={null}
        />
      )}
    </section>
  );
}

/** Starting a plan, or continuing its latest unfinished run. */
function Start({ plans }: { plans: string[] }) {
  const [plan, setPlan] = useState(plans[0] ?? "");
  const [resume, setResume] = useState(false);
  const path = "api/v1/runs";
  return (
    <div class="starting">
      {plans.length > 0 && (
        <TokenForm name="start a run" verb="Start" path={path} body={{ plan, resume }}>
          <label>
            Plan{" "}
            <select value={plan} onChange={(event) => setPlan(event.currentTarget.value)}>
              {plans.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            <input
              type="checkbox"
              checked={resume}
              onChange={(event) => setResume(event.currentTarget.checked)}
            />{" "}
            resume its latest unfinished run
          </label>
        </TokenForm>
      )}
    </div>
  );
}

function Live({ live }: { live: LiveDocument }) {
  const { runs, ended, connected, plans } = useLive(live);
  const now = useNow(runs.length > 0);
  if (!live.service) {
    return (
      <p class="lead">
        What is shown here does not tell of runs under way; <code>steelyard serve</code> on the
        machine that runs them does.
      </p>
    );
  }
  return (
    <>
      <p class="lead" role="status">
        {connected
          ? `${underWay(runs.length)} under way.`
          : "The service does not answer. This page goes on when it does."}
      </p>
      {plans !== null && <Start plans={plans} />}
      {runs.map((run) => (
        <Run key={keyOf(run)} run={run} now={now} />
      ))}
      {ended.map((run) => (
        <p key={keyOf(run)} class="about">
          {run.experiment === null ? (
            nameOf(run)
          ) : (
            <a href={experimentAddress(run.experiment)}>
              {nameOf(run)} #{run.experiment}
            </a>
          )}{" "}
          {run.machine === null ? "has ended." : `on ${run.machine} has ended or does not report.`}
        </p>
      ))}
    </>
  );
}

export function LivePage() {
  const got = useDocument(
    "api/v1/live.json",
    parseDocument<LiveDocument>,
    "This server does not know of runs under way.",
  );
  return (
    <>
      <Title name="Live" />
      <Loaded got={got}>{(live) => <Live live={live} />}</Loaded>
    </>
  );
}
