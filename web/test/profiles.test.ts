import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { heightOf, svgElement, unpack } from "../src/views/profiles/flame";

describe("flamegraphs", () => {
  const file =
    '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "a" "b"><svg version="1.1" width="1200" height="390" viewBox="0 0 1200 390"><title>–</title></svg>';
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
