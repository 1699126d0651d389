import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readPage } from "../src/data";
import { heightOf, svgElement, unpack } from "../src/profiles";

describe("flamegraphs", () => {
  const file = '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "a" "b"><svg version="1.1" width="1200" height="390" viewBox="0 0 1200 390"><title>–</title></svg>';
  it("come out as they were packed", async () => {
    expect(await unpack(deflateRawSync(Buffer.from(file)).toString("base64"))).toBe(file);
    await expect(unpack("AAAA")).rejects.toBeDefined();
  });
  it("are shown without what only a file has, as high as they say", () => {
    const element = svgElement(file);
    expect(element.startsWith("<svg version")).toBe(true);
    expect(heightOf(element)).toBe(390);
    expect(heightOf("<svg>")).toBe(600);
    expect(svgElement("nothing")).toBe("");
  });
});

describe("reading profiles", () => {
  it("takes none where the data have none", () => {
    const read = readPage(JSON.stringify({ format: 1, experiment: { name: "x" }, variants: [{ name: "a" }] }));
    expect("page" in read && read.page.profiles).toEqual([]);
  });
  it("fills in lists", () => {
    const read = readPage(JSON.stringify({ format: 1, experiment: { name: "x" }, variants: [], profiles: [{ step: "l.i0", dop: 1, tables: [{ id: "a", title: "t" }] }] }));
    expect("page" in read && read.page.profiles[0]?.flames).toEqual([]);
    expect("page" in read && read.page.profiles[0]?.tables[0]?.rows).toEqual([]);
  });
});
