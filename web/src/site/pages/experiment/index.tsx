/** One experiment: what `steelyard report` says of it. */

import { useLayoutEffect } from "preact/hooks";
import type { Page } from "#page";
import { Parts, Report } from "../../../report";
import { letInspect } from "../../../shared/inspect";
import { PageContext } from "../../../shared/page";
import { Problem } from "../../../shared/problem";
import { TipBox } from "../../../shared/tip";
import { useDocument } from "../../documents";
import { Loaded, useTitle } from "../../frame";
import { showPlace } from "../../navigate";
import { compareAddress } from "../../route";
import { parsePage } from "./parse";

/** Its variants, the base first. */
function picksOf({ variants, experiment: { base } }: Page, id: number) {
  const sorted = [...variants].sort((a, b) => Number(b.name === base) - Number(a.name === base));
  return sorted.map(({ name }) => ({ experiment: id, variant: name }));
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
        <a href={compareAddress(picksOf(page, id))}>Compare with others</a>. Experiment {id},
        measured with steelyard {page.steelyard}.{" "}
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
    parsePage,
    `There is no experiment ${id} here. It may have been removed.`,
  );
  if (got !== null && "problem" in got)
    return <Problem title={`Experiment ${id}`} text={got.problem} />;
  return <Loaded got={got}>{(page) => <Shown key={id} page={page} id={id} />}</Loaded>;
}
