// Prints the list of what steelyard's programs are made of (CycloneDX): the crates, as
// cargo-cyclonedx lists them in the file given, and the packages in the page. What differs from one
// machine or call to the next is taken out: paths, a serial number, the time.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const [file] = process.argv.slice(2);
const text = readFileSync(file, "utf8").replaceAll(process.cwd(), "/steelyard");
const list = JSON.parse(text);
delete list.serialNumber;
list.metadata.timestamp = new Date(process.env.SOURCE_DATE_EPOCH * 1000).toISOString();

const page = JSON.parse(readFileSync("web/package.json", "utf8"));
const root = list.dependencies.find((one) => one.ref === list.metadata.component["bom-ref"]);
for (const name of Object.keys(page.dependencies)) {
  const about = JSON.parse(readFileSync(join("web/node_modules", name, "package.json"), "utf8"));
  const purl = `pkg:npm/${name}@${about.version}`;
  list.components.push({
    type: "library",
    "bom-ref": purl,
    name,
    version: about.version,
    scope: "required",
    licenses: [{ expression: about.license }],
    purl,
  });
  list.dependencies.push({ ref: purl });
  root.dependsOn.push(purl);
}
console.log(JSON.stringify(list, null, 1));
