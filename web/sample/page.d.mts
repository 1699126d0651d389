/** A repeatable source of numbers from 0 to 1. */
export function generator(seed: number): () => number;
/** Made-up results, for tests that are checked for types. */
export function samplePage(request: object): object;
