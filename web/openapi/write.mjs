/**
 * Writes `crates/site/src/openapi.json`, which describes the service's paths and documents:
 *   npm run openapi
 * With `--check`, fails if the file is stale.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createGenerator } from "ts-json-schema-generator";
import { paths, schemas } from "./paths.mjs";

const FILE = fileURLToPath(new URL("../../crates/site/src/openapi.json", import.meta.url));
const TYPES = fileURLToPath(new URL("../generated/page.ts", import.meta.url));

/**
 * A schema of the generator's (JSON Schema, draft 7) as OpenAPI has it (2020-12). Objects may have
 * other keys: one can be added without a new version of the document.
 */
function converted(schema) {
  if (Array.isArray(schema)) return schema.map(converted);
  if (schema === null || typeof schema !== "object") return schema;
  const entries = Object.entries(schema)
    .filter(([key, value]) => key !== "additionalProperties" || value !== false)
    .map(([key, value]) => [key === "items" && Array.isArray(value) ? "prefixItems" : key, value]);
  return Object.fromEntries(entries.map(([key, value]) => [key, converted(value)]));
}

function document() {
  const config = { path: TYPES, type: "*", topRef: true, encodeRefs: false, sortProps: false };
  const { definitions } = createGenerator(config).createSchema("*");
  const text = JSON.stringify(converted(definitions)).replaceAll(
    "#/definitions/",
    "#/components/schemas/",
  );
  const bearer = { type: "http", scheme: "bearer" };
  return {
    openapi: "3.1.0",
    info: {
      title: "steelyard",
      version: "1",
      description:
        "Results of experiments with database systems, as `steelyard serve` answers them. " +
        "Documents have a `format`, which grows when a key is removed or changes its meaning.",
      license: { name: "MIT OR Apache-2.0", identifier: "MIT OR Apache-2.0" },
    },
    security: [{}, { token: [] }],
    paths,
    components: {
      schemas: { ...JSON.parse(text), ...schemas },
      securitySchemes: { token: bearer },
    },
  };
}

const text = `${JSON.stringify(document(), null, 1)}\n`;
if (!process.argv.includes("--check")) {
  writeFileSync(FILE, text);
} else if (readFileSync(FILE, "utf8") !== text) {
  console.error(`${FILE} is stale: run npm run openapi in web/`);
  process.exit(1);
}
