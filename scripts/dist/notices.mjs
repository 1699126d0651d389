// Prints the licenses of steelyard and of all that its programs contain: the crates that Cargo.lock
// names for Linux, and the packages in the page. Each text stands once, below the names of those
// that come with it. The form is that of Debian's files, without its fields.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const run = (program, ...words) =>
  JSON.parse(execFileSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28 }));
const metadata = run("cargo", "metadata", "--locked", "--format-version", "1",
  "--filter-platform", "x86_64-unknown-linux-gnu");

/** What the program contains: neither tools for building nor for tests. */
function linked(metadata) {
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const root = metadata.packages.find((one) => one.name === "steelyard");
  const found = new Set();
  const wait = [root.id];
  while (wait.length > 0) {
    const id = wait.pop();
    if (found.has(id)) continue;
    found.add(id);
    for (const dep of nodes.get(id).deps)
      if (dep.dep_kinds.some(({ kind }) => kind === null)) wait.push(dep.pkg);
  }
  return metadata.packages.filter((one) => found.has(one.id) && one.source !== null);
}

/** The texts that a package comes with. */
function texts(directory) {
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|copyright|notice|unlicense)/i.test(entry.name))
    .map((entry) => entry.name);
  return names.sort().map((name) => readFileSync(join(directory, name), "utf8").trim());
}

const parts = linked(metadata).map((one) => ({
  title: `${one.name} ${one.version}: ${[one.license ?? "see below", one.repository].filter(Boolean).join(", ")}`,
  texts: texts(dirname(one.manifest_path)),
}));
const page = JSON.parse(readFileSync("web/package.json", "utf8"));
for (const name of Object.keys(page.dependencies)) {
  const directory = join("web/node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  parts.push({ title: `${name} ${version} (npm): ${license}`, texts: texts(directory) });
}
parts.sort((a, b) => (a.title < b.title ? -1 : 1));

const holders = new Map();
for (const { title, texts } of parts)
  for (const text of texts) holders.set(text, [...(holders.get(text) ?? []), title.split(":")[0]]);

const lines = [
  "steelyard is licensed under MIT or Apache-2.0, at your option. Its programs contain the",
  "following, each under its own license. The texts are below.",
  "",
  ...parts.map(({ title }) => `  ${title}`),
  "  the Rust standard library: MIT OR Apache-2.0; static programs: musl, MIT,",
  "  Copyright © 2005-2020 Rich Felker, et al.",
  "",
  "---- steelyard",
  "",
  readFileSync("LICENSE-MIT", "utf8").trim(),
  "",
  readFileSync("LICENSE-APACHE", "utf8").trim(),
];
for (const [text, names] of holders) lines.push("", `---- ${names.join(", ")}`, "", text);
console.log(lines.join("\n"));
