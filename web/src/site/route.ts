/**
 * Addresses: every state of every page has one. They are in the query, so that any web server can
 * serve a reload; what comes after `#` stays a place within the page.
 */

export type Route =
  | { page: "overview" }
  | { page: "experiments"; filter: Filter }
  | { page: "experiment"; id: number }
  | { page: "history"; chosen: ChosenHistory }
  | { page: "compare"; picks: Picked[] }
  | { page: "machines" }
  | { page: "live" }
  | { page: "unknown"; address: string };

/** What the list of experiments is limited to; empty for all. */
export interface Filter {
  q: string;
  workload: string;
  system: string;
  version: string;
  machine: string;
  verdict: string;
}

/** Which history, and how it is shown; empty for what is first. */
export interface ChosenHistory {
  workload: string;
  machine: string;
  order: string;
  metric: string;
  step: string;
}

/** A variant of an experiment. */
export interface Picked {
  experiment: number;
  variant: string;
}

export const NO_FILTER: Filter = {
  q: "",
  workload: "",
  system: "",
  version: "",
  machine: "",
  verdict: "",
};

export const FIRST_HISTORY: ChosenHistory = {
  workload: "",
  machine: "",
  order: "",
  metric: "",
  step: "",
};

/** The values that an address has for the keys of a template; the template's own for the others. */
function read<T extends object>(params: URLSearchParams, template: T): T {
  const entries = Object.keys(template).map((key) => [key, params.get(key) ?? ""]);
  return Object.fromEntries(entries) as T;
}

/** The variant that "12:pg14.3" stands for; the first colon ends the number. */
function pickOf(text: string): Picked[] {
  const found = /^(\d{1,15}):(.+)$/.exec(text);
  return found ? [{ experiment: Number(found[1]), variant: found[2] ?? "" }] : [];
}

/** The state that an address stands for. */
export function routeOf(search: string): Route {
  const params = new URLSearchParams(search);
  const experiment = params.get("experiment");
  if (experiment !== null && /^\d{1,15}$/.test(experiment))
    return { page: "experiment", id: Number(experiment) };
  const view = params.get("view");
  if (experiment === null) {
    if (view === null || view === "overview") return { page: "overview" };
    if (view === "experiments") return { page: view, filter: read(params, NO_FILTER) };
    if (view === "history") return { page: view, chosen: read(params, FIRST_HISTORY) };
    if (view === "machines" || view === "live") return { page: view };
    if (view === "compare") return { page: view, picks: params.getAll("with").flatMap(pickOf) };
  }
  return { page: "unknown", address: search };
}

/** The address of a state. What is empty is left out. */
export function addressOf(route: Route): string {
  const params = new URLSearchParams();
  const add = (values: object): void => {
    for (const [key, value] of Object.entries(values)) if (value !== "") params.set(key, value);
  };
  if (route.page === "unknown") return route.address;
  if (route.page === "experiment") params.set("experiment", String(route.id));
  else if (route.page !== "overview") params.set("view", route.page);
  if (route.page === "experiments") add(route.filter);
  if (route.page === "history") add(route.chosen);
  if (route.page === "compare")
    for (const { experiment, variant } of route.picks)
      params.append("with", `${experiment}:${variant}`);
  const query = params.toString();
  return query === "" ? "./" : `./?${query}`;
}

/** The address of an experiment, or of a place within its page. */
export function experimentAddress(id: number, place = ""): string {
  return addressOf({ page: "experiment", id }) + (place === "" ? "" : `#${place}`);
}

/** The address of a list of experiments. */
export function experimentsAddress(filter: Partial<Filter>): string {
  return addressOf({ page: "experiments", filter: { ...NO_FILTER, ...filter } });
}

/** The address of a comparison; the first is what the others are compared with. */
export function compareAddress(picks: Picked[]): string {
  return addressOf({ page: "compare", picks });
}

/** The address of a history. */
export function historyAddress(chosen: Partial<ChosenHistory>): string {
  return addressOf({ page: "history", chosen: { ...FIRST_HISTORY, ...chosen } });
}
