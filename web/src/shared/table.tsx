/** A table as formatted by the Rust side, with its legend and copy buttons. */

import type { Row, RowKind, Table } from "#page";
import { isNumericColumn } from "../text/export";
import { Heads, Remarks, Scroll } from "./controls";
import { CopyTable } from "./copy";
import { usePage } from "./page";
import { Named } from "./variant";

/** A sign and words for highlighted rows, in addition to their color. */
const KIND: Record<RowKind, [sign: string, word: string] | null> = {
  base: null,
  regression: ["▼", "regression"],
  improvement: ["▲", "improvement"],
  marked: ["*", "marked, see the note"],
};

function Label({ row }: { row: Row }) {
  const variant = usePage().variants.findIndex((one) => one.name === row.label);
  const kind = row.kind && KIND[row.kind];
  const mark = kind && (
    <>
      <span class="kind-sign" aria-hidden="true">
        {kind[0]}
      </span>
      <span class="offscreen"> ({kind[1]})</span>
    </>
  );
  if (variant >= 0) return <Named variant={variant}>{mark}</Named>;
  return (
    <>
      {row.label}
      {mark}
    </>
  );
}

export function TableView({ table }: { table: Table }) {
  const [label, ...headings] = table.columns;
  const style = headings.map((_, column) => (isNumericColumn(table, column) ? "" : "label"));
  return (
    <figure class="table" data-table={table.id} id={`table-${table.id}`}>
      <figcaption>
        <h3>{table.title}</h3>
        <CopyTable name={table.title} table={() => table} />
      </figcaption>
      <Scroll name={table.title}>
        <table class="data">
          <thead>
            <tr>
              <Heads of={[[label, "label"]]} />
              <Heads of={headings.map((heading, column) => [heading, style[column]])} />
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr data-kind={row.kind}>
                <th scope="row">
                  <Label row={row} />
                </th>
                {style.map((name, column) => (
                  <td class={name} data-verdict={row.verdicts && (row.verdicts[column] || "none")}>
                    {row.cells[column] ?? ""}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Remarks lines={table.note ?? []} strong />
      <Remarks lines={table.legend} />
    </figure>
  );
}
