/** What may explain a step's differences: in a paragraph, and the figures behind it. */

import { useState } from "preact/hooks";
import type { PageWhy } from "#page";
import { usePrinting } from "../../shared/print";
import { TableView } from "../../shared/table";
import { count } from "../../text/format";
import { Plans } from "./plans";

/** What it comes to, a paragraph for each variant. */
export function Conclusions({ why }: { why: PageWhy }) {
  return (
    <ul class="conclusions">
      {why.conclusions.map((text) => (
        <li>{text}.</li>
      ))}
    </ul>
  );
}

/** What the step began with, the counters and the plans that differ. */
export function Why({ why }: { why: PageWhy }) {
  const printing = usePrinting();
  const [open, setOpen] = useState(false);
  const { tables, plans } = why;
  if (tables.length + plans.length === 0) return null;
  const parts = [
    tables.length > 0 ? count(tables.length, "table") : "",
    plans.length > 0
      ? count(plans.length, "statement with another plan", "statements with another plan")
      : "",
  ];
  return (
    <details
      class="why"
      open={open || printing}
      onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What else differs: {parts.filter(Boolean).join(", ")}</summary>
      {(open || printing) && (
        <>
          {tables.map((table) => (
            <TableView key={table.id} table={table} />
          ))}
          {plans.map((plan) => (
            <Plans plan={plan} />
          ))}
        </>
      )}
    </details>
  );
}
