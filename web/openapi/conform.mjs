/**
 * Checks the documents of a site, or of a service, against `crates/site/src/openapi.json`:
 *   node openapi/conform.mjs DIRECTORY
 * Every document must have a path that the description names, and be as it says; every path of a
 * document that it names must have been seen.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv/dist/2020.js";

const api = JSON.parse(
  readFileSync(new URL("../../crates/site/src/openapi.json", import.meta.url), "utf8"),
);
const ajv = new Ajv({ strict: false });
ajv.addSchema(api, "api");

const pointer = (text) => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"));
const templates = Object.entries(api.paths)
  .filter(([, path]) => path.get?.tags.includes("documents"))
  .map(([path, { get }]) => {
    const [type] = Object.keys(get.responses[200].content);
    const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(".", "\\."));
    const schema = `api#/paths/${pointer(path)}/get/responses/200/content/${pointer(type)}/schema`;
    return { path, type, shape: new RegExp(`^${parts.join("[^/]+")}$`), schema };
  });

const directory = process.argv[2];
const files = readdirSync(join(directory, "api"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .filter((file) => !file.endsWith("/openapi.json"));

const seen = new Set();
const wrong = [];
for (const file of files) {
  const path = file.slice(directory.replace(/\/$/, "").length);
  const template = templates.find(({ shape }) => shape.test(path));
  if (template === undefined) {
    wrong.push(`${path}: expected a path of openapi.json`);
    continue;
  }
  seen.add(template.path);
  if (template.type !== "application/json") continue;
  const validate = ajv.getSchema(template.schema);
  if (!validate(JSON.parse(readFileSync(file, "utf8")))) {
    wrong.push(`${path}: ${ajv.errorsText(validate.errors, { dataVar: "" })}`);
  }
}
for (const { path } of templates.filter(({ path }) => !seen.has(path))) {
  wrong.push(`${path}: expected a document with such a path, found none`);
}
for (const line of wrong.slice(0, 20)) console.error(line);
console.log(`${files.length} documents of ${seen.size} paths, ${wrong.length} wrong`);
process.exit(wrong.length === 0 && files.length > 0 ? 0 : 1);
