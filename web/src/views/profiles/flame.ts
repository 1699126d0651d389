/** Flamegraphs as they come in the data: packed SVG files with a script of their own. */

/**
 * What comes before a flamegraph in its frame. Its script notes the zoom in the address, which a
 * frame without an address of its own may not change.
 */
const BEFORE =
  '<!doctype html><meta charset="utf-8"><style>body{margin:0}svg{display:block}</style>' +
  "<script>history.replaceState=()=>undefined</script>";

/** The text that was deflated and written in base64. */
export async function unpack(packed: string): Promise<string> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(inflated).text();
}

/** The `<svg>` element of an SVG file without what only a file has before it. */
export function svgElement(file: string): string {
  const begin = file.indexOf("<svg");
  return begin < 0 ? "" : file.slice(begin);
}

/** The document of a flamegraph's frame. */
export function frameOf(file: string): string {
  return BEFORE + svgElement(file);
}

/** Height of an SVG in pixels, as it says itself. */
export function heightOf(file: string): number {
  const found = /<svg[^>]*\sheight="(\d+(?:\.\d+)?)"/.exec(file);
  return found ? Math.ceil(Number(found[1])) : 600;
}

/** Gives the reader the file. */
export function save(file: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
