/** Made-up results, for tests that are checked for types. */
export function samplePage(request: object): object;
