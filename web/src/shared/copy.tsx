/** Buttons that copy. */

import { useState } from "preact/hooks";
import type { Table } from "#page";
import { toCsv, toMarkdown, toText } from "../text/export";

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers that give a page opened from disk no clipboard still copy a selection.
    const area = document.createElement("textarea");
    area.className = "offscreen";
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A button that copies a text and says that it did. */
export function CopyButton(props: { label: string; name: string; text: () => string }) {
  const [said, say] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    say((await copyText(props.text())) ? "copied" : "not allowed");
    window.setTimeout(() => say(null), 1200);
  };
  return (
    <button type="button" class="quiet" aria-label={props.name} onClick={copy}>
      {said ?? props.label}
    </button>
  );
}

const FORMATS: [string, (table: Table) => string][] = [
  ["text", toText],
  ["Markdown", toMarkdown],
  ["CSV", toCsv],
];

/** The three buttons that every table has. */
export function CopyTable({ name, table }: { name: string; table: () => Table }) {
  return (
    <span class="copy">
      copy as{" "}
      {FORMATS.map(([format, write]) => (
        <CopyButton label={format} name={`Copy ${name} as ${format}`} text={() => write(table())} />
      ))}
    </span>
  );
}
