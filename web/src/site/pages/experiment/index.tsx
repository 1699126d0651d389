/** One experiment: what `steelyard report` says of it. */

import { useLayoutEffect } from "preact/hooks";
import type { Page } from "#page";
import { readPage } from "../../../data/read";
import { Parts, Report } from "../../../report";
import { letInspect } from "../../../shared/inspect";
import { PageContext } from "../../../shared/page";
import { Problem } from "../../../shared/problem";
import { TipBox } from "../../../shared/tip";
import { useDocument } from "../../documents";
import { Loaded, useTitle } from "../../frame";
import { showPlace } from "../../navigate";

/** What is wrong with the results comes instead of them. */
const PROBLEM = /^\{"format":1,"problem":/;

function parse(text: string): { document: Page } | { problem: string } {
  if (PROBLEM.test(text)) return JSON.parse(text) as { problem: string };
  const read = readPage(text);
  return "page" in read ? { document: read.page } : read;
}

function Shown({ page, id }: { page: Page; id: number }) {
  useTitle(page.experiment.name);
  // The place in the address is there only now.
  useLayoutEffect(() => {
    letInspect(page);
    showPlace();
  }, [page]);
  return (
    <PageContext.Provider value={page}>
      <nav class="parts" aria-label="Parts of the experiment">
        <Parts page={page} />
      </nav>
      <Report page={page} />
      <footer>
        Experiment {id}, measured with steelyard {page.steelyard}.{" "}
        <a href={`api/v1/experiments/${id}.json`} target="_blank" rel="noopener">
          Its data as JSON
        </a>
      </footer>
      <TipBox />
    </PageContext.Provider>
  );
}

export function ExperimentPage({ id }: { id: number }) {
  const got = useDocument(
    `api/v1/experiments/${id}.json`,
    parse,
    `There is no experiment ${id} here. It may have been removed.`,
  );
  if (got !== null && "problem" in got)
    return <Problem title={`Experiment ${id}`} text={got.problem} />;
  return <Loaded got={got}>{(page) => <Shown key={id} page={page} id={id} />}</Loaded>;
}
