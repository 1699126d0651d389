/** One experiment: what `steelyard report` says of it. */

import { useLayoutEffect, useState } from "preact/hooks";
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
import { AddNote } from "./note";
import { parsePage } from "./parse";

/** Its variants, the base first. */
function picksOf({ variants, experiment: { base } }: Page, id: number) {
  const sorted = [...variants].sort((a, b) => Number(b.name === base) - Number(a.name === base));
  return sorted.map(({ name }) => ({ experiment: id, variant: name }));
}

interface ShownProps {
  page: Page;
  id: number;
  onNoted: () => void;
}

function Shown({ page, id, onNoted }: ShownProps) {
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
      <AddNote page={page} id={id} onAdded={onNoted} />
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
  const [notes, setNotes] = useState(0);
  const got = useDocument(
    `api/v1/experiments/${id}.json`,
    parsePage,
    `There is no experiment ${id} here. It may have been removed.`,
    notes,
  );
  if (got !== null && "problem" in got)
    return <Problem title={`Experiment ${id}`} text={got.problem} />;
  const noted = (): void => setNotes(notes + 1);
  return (
    <Loaded got={got}>{(page) => <Shown key={id} page={page} id={id} onNoted={noted} />}</Loaded>
  );
}
