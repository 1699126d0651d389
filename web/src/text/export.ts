/** A table as text, Markdown and CSV, for pasting elsewhere. */

import type { Table } from "#page";

const FIGURE = /^[(<>≤≥~±+\-−]?\s*\d[\d.,\u202f\u00a0 ]*([eE][+-]?\d+)?/;
const UNIT = /\)?\s*(%|[a-zA-Zµ]{1,3}(\/[a-zA-Z]+)?)?\s*[*†‡!]?$/;
const NUMERIC = new RegExp(FIGURE.source + UNIT.source);
const EMPTY = /^(|[-–—]|n\/a)$/;

/** True for columns of figures, which are right-aligned. */
export function isNumericColumn(table: Pick<Table, "rows">, column: number): boolean {
  let figures = 0;
  let words = 0;
  for (const row of table.rows) {
    const cell = (row.cells[column] ?? "").trim();
    if (EMPTY.test(cell)) continue;
    if (NUMERIC.test(cell)) figures += 1;
    else words += 1;
  }
  return figures >= words;
}

/** Headings and rows; the first of the headings is that of the labels. */
function grid({ columns, rows }: Table): string[][] {
  return [columns, ...rows.map(({ label, cells }) => [label, ...cells])];
}

/** The published shape: legend first, then columns that line up in a mail. */
export function toText(table: Table): string {
  const all = grid(table);
  const widths = (all[0] ?? []).map((_, column) =>
    Math.max(...all.map((line) => [...(line[column] ?? "")].length)),
  );
  const lines = all.map((line) =>
    line
      .map((cell, column) => {
        const pad = " ".repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length));
        return column > 0 && isNumericColumn(table, column - 1) ? pad + cell : cell + pad;
      })
      .join("  ")
      .trimEnd(),
  );
  const legend = table.legend.map((line) => `* ${line}`);
  const notes = (table.note ?? []).map((line) => `* ${line}`);
  return `${[
    table.title,
    "",
    ...(legend.length > 0 ? ["Legend:", ...legend, ""] : []),
    ...lines,
    ...(notes.length > 0 ? ["", ...notes] : []),
  ].join("\n")}\n`;
}

function markdownCell(cell: string): string {
  return cell
    .replace(/\\/g, "\\\\")
    .replace(/\|/g, "\\|")
    .replace(/</g, "&lt;")
    .replace(/\r?\n/g, " ");
}

/** A pipe table with the legend as a list under it. */
export function toMarkdown(table: Table): string {
  const [head = [], ...rows] = grid(table);
  const line = (cells: string[]): string => `| ${cells.map(markdownCell).join(" | ")} |`;
  const side = (column: number): string =>
    column > 0 && isNumericColumn(table, column - 1) ? " ---: " : " --- ";
  const rule = `|${head.map((_, column) => side(column)).join("|")}|`;
  const notes = [...table.legend, ...(table.note ?? [])].map((text) => `- ${markdownCell(text)}`);
  return `${[
    `**${markdownCell(table.title)}**`,
    "",
    line(head),
    rule,
    ...rows.map(line),
    ...(notes.length > 0 ? ["", ...notes] : []),
  ].join("\n")}\n`;
}

/** RFC 4180, without legend: for programs. */
export function toCsv(table: Table): string {
  const cell = (text: string): string =>
    /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  return `${grid(table)
    .map((line) => line.map(cell).join(","))
    .join("\r\n")}\r\n`;
}
