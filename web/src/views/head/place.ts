/** What kind of machine it was, at a glance. */

import type { PageFact } from "#page";

/** Host facts that tell a reader at a glance what kind of machine it was: name, group, fact. */
const PLACE: [string, RegExp, RegExp][] = [
  ["CPU", /^(cpu|processor)/i, /^(model|model name|name)$/i],
  ["Cores", /^(cpu|processor)/i, /^(cores|cpus)$/i],
  ["Memory", /^mem/i, /^(total|size)$/i],
  ["Kernel", /^(system|kernel|os)/i, /^(kernel|release|kernel release)$/i],
  ["Filesystem", /^(storage|file ?system|disk)/i, /^(file ?system|type)$/i],
];

/** The facts of `PLACE` that the host tells; what is unknown is left to the environment below. */
export function placeFacts(host: PageFact[]): [string, string][] {
  return PLACE.flatMap(([name, group, pattern]): [string, string][] => {
    const fact = host.find((one) => group.test(one.group) && pattern.test(one.name));
    return fact && !fact.value.startsWith("unknown") ? [[name, fact.value]] : [];
  });
}
