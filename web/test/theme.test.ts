import { describe, expect, it } from "vitest";
import { faded, look, PALETTE, resolve, type Theme } from "../src/shared/theme";

type Triple = [number, number, number];

/** sRGB to linear light, IEC 61966-2-1. */
function linear(hex: string): Triple {
  return [1, 3, 5].map((from) => {
    const value = parseInt(hex.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

const luminance = ([r, g, b]: Triple): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** Contrast as WCAG 2.2 defines it. */
function contrast(a: string, b: string): number {
  const [x, y] = [luminance(linear(a)), luminance(linear(b))];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, severity 1.0. */
const VISION: Record<string, Triple[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function lab([r, g, b]: Triple): Triple {
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [
    f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505),
    f(luminance([r, g, b])),
    f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089),
  ];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function seen(hex: string, vision: Triple[]): Triple {
  const light = linear(hex);
  const clamp = (value: number): number => Math.min(1, Math.max(0, value));
  return lab(
    vision.map((row) => clamp(row[0] * light[0] + row[1] * light[1] + row[2] * light[2])) as Triple,
  );
}

describe.each(["light", "dark"] as Theme[])("the palette of the %s theme", (theme) => {
  const { background, base, variants } = PALETTE[theme];
  const all = [base, ...variants];
  it("holds eight", () => expect(new Set(all).size).toBe(8));
  it.each(all)("%s stands out from the background", (color) =>
    expect(contrast(color, background)).toBeGreaterThanOrEqual(3),
  );
  it.each(Object.keys(VISION))("can be told apart with %s vision", (name) => {
    const colors = all.map((color) => seen(color, VISION[name] ?? []));
    for (let i = 0; i < colors.length; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const [a, b]: [Triple, Triple] = [colors[i] ?? [0, 0, 0], colors[j] ?? [0, 0, 0]];
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        expect(distance, `${all[i]} and ${all[j]}`).toBeGreaterThan(18);
      }
    }
  });
});

describe("looks", () => {
  it("gives the base the neutral color wherever it stands in the plan", () => {
    expect(look(2, 2, "light").color).toBe(PALETTE.light.base);
    expect(look(0, 2, "light").color).toBe(PALETTE.light.variants[0]);
    expect(look(3, 2, "light").color).toBe(PALETTE.light.variants[2]);
  });
  it("never gives two of the first 29 variants the same look", () => {
    const looks = Array.from({ length: 29 }, (_, index) => JSON.stringify(look(index, 0, "dark")));
    expect(new Set(looks).size).toBe(29);
  });
  it("draws solid lines until the colors are used up", () => {
    expect(look(7, 0, "light").dash).toEqual([]);
    expect(look(8, 0, "light").dash).not.toEqual([]);
  });
  it("fades", () => expect(faded("#2f6fd8", 0.5)).toBe("#2f6fd880"));
  it("follows the system only when asked to", () => {
    expect(resolve("auto", true)).toBe("dark");
    expect(resolve("auto", false)).toBe("light");
    expect(resolve("light", true)).toBe("light");
  });
});
