/** The profiles of the steps: flamegraphs that are unpacked when they are opened, and the tables made of the same samples. */

import { named, variantName, type Context } from "./context";
import { stepLabel, type Flame, type Profile } from "./data";
import { h, replace } from "./dom";
import { count } from "./format";
import { tableView } from "./tables";

/** Shown while a flamegraph is made ready, and where it can't be. */
const UNABLE = "This browser cannot unpack flamegraphs (it lacks DecompressionStream). They are in the results directory under artifacts/profiles.";

/**
 * What stands before a flamegraph in its frame. Its script notes the zoom in the address, which a frame without an address of
 * its own may not change.
 */
const BEFORE = '<!doctype html><meta charset="utf-8"><style>body{margin:0}svg{display:block}</style><script>history.replaceState=()=>undefined</script>';

/** The text that was deflated and written in base64. */
export async function unpack(packed: string): Promise<string> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

/** The `<svg>` element of an SVG file without what only a file has before it. */
export function svgElement(file: string): string {
  const begin = file.indexOf("<svg");
  return begin < 0 ? "" : file.slice(begin);
}

/** Height of an SVG in pixels, as it says itself. */
export function heightOf(element: string): number {
  const found = /<svg[^>]*\sheight="(\d+(?:\.\d+)?)"/.exec(element);
  return found ? Math.ceil(Number(found[1])) : 600;
}

function title(context: Context, flame: Flame): string {
  const name = variantName(context, flame.variant);
  return flame.base === undefined ? name : `${variantName(context, flame.base)} → ${name}`;
}

/** The flamegraphs of a step: one button each, and the one that is open. */
function flames(context: Context, profile: Profile): HTMLElement {
  const box = h("div", { class: "flame" });
  let open: number | null = null;
  const buttons = profile.flames.map((flame, index) =>
    h(
      "button",
      { type: "button", class: "flame-choice", "aria-pressed": "false", "data-flame": flame.base === undefined ? "variant" : "difference", onclick: () => void show(index) },
      flame.base === undefined ? named(context, flame.variant) : title(context, flame),
    ),
  );
  const show = async (index: number): Promise<void> => {
    open = open === index ? null : index;
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place === open)));
    const flame = profile.flames[index];
    if (open === null || !flame) {
      replace(box);
      return;
    }
    let file: string;
    try {
      file = await unpack(flame.svg);
    } catch {
      replace(box, h("p", { class: "note" }, UNABLE));
      return;
    }
    if (open !== index) return;
    const element = svgElement(file);
    const about = `${stepLabel(context.page, { name: profile.step, dop: profile.dop })}, ${title(context, flame)}`;
    // In a frame of its own: its script sees nothing of the page.
    const frame = h("iframe", { sandbox: "allow-scripts allow-modals", title: `Flamegraph of ${about}`, height: heightOf(element) });
    frame.srcdoc = BEFORE + element;
    const save = h("button", { type: "button", class: "quiet", onclick: () => saveSvg(file, `${profile.step}.${title(context, flame).replace(/ → /, "-")}.svg`) }, "save as SVG");
    replace(box, h("p", { class: "minor" }, `${about}: ${count(flame.samples, "sample")}. Click a function to zoom in, “Reset Zoom” to go back, Ctrl-F to search. `, save), h("div", { class: "scroll" }, frame));
  };
  const kinds: [string, (flame: Flame) => boolean][] = [
    ["flamegraph of", (flame) => flame.base === undefined],
    ["difference", (flame) => flame.base !== undefined],
  ];
  return h(
    "div",
    {},
    kinds.map(([label, wanted]) => {
      const chosen = buttons.filter((_, index) => wanted(profile.flames[index] as Flame));
      return chosen.length > 0 && h("div", { class: "bar flame-bar" }, h("span", { class: "minor" }, label), chosen);
    }),
    box,
  );
}

function saveSvg(file: string, name: string): void {
  const url = URL.createObjectURL(new Blob([file], { type: "image/svg+xml" }));
  h("a", { href: url, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The section; null where nothing was profiled. */
export function profilesSection(context: Context): HTMLElement | null {
  const { page } = context;
  if (page.profiles.length === 0) return null;
  const panel = (profile: Profile, index: number): HTMLElement => {
    const body = h("div", { class: "profile-body" });
    const details = h("details", { class: "profile", "data-step": profile.step, "data-dop": profile.dop }, h("summary", {}, h("h3", {}, stepLabel(page, { name: profile.step, dop: profile.dop }))), body);
    let built = false;
    const build = (): void => {
      if (built) return;
      built = true;
      replace(body, flames(context, profile), profile.tables.map((table) => tableView(context, table)));
    };
    details.addEventListener("toggle", () => details.open && build());
    if (index === 0) {
      build();
      details.open = true;
    }
    return details;
  };
  return h(
    "section",
    { id: "profiles", "aria-labelledby": "profiles-title" },
    h("h2", { id: "profiles-title" }, "Profiles"),
    h("p", { class: "prose" }, "Where the DBMS spent its time on the CPU, by samples of its call stacks that perf took outside of what is measured. In a difference the width is that of the variant; red functions have a larger share of the samples than in the base, blue ones a smaller one."),
    page.profiles.map(panel),
  );
}
