/** Made-up profiles for the sample pages: nothing here is measured. */
import { deflateRawSync } from "node:zlib";

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** A drawing in the manner of a flamegraph, with a script that says that it ran. */
function drawing(title, functions) {
  const rows = functions.map(
    ([name, share], index) =>
      `<g class="func_g"><title>${escaped(name)} (${share}%)</title><rect x="10" y="${40 + 17 * index}" width="${share * 11.8}" height="16" fill="rgb(230,${90 + 11 * index},40)"/><text x="14" y="${52 + 17 * index}">${escaped(name)}</text></g>`,
  );
  const height = 60 + 17 * functions.length;
  return `<?xml version="1.0" standalone="no"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg version="1.1" width="1200" height="${height}" onload="init(evt)" viewBox="0 0 1200 ${height}" xmlns="http://www.w3.org/2000/svg"><style type="text/css">text{font:12px monospace}</style><script type="text/ecmascript"><![CDATA[function init(evt){history.replaceState(null,null,"?x=1");document.documentElement.dataset.drawn=document.querySelectorAll("rect").length>0&&1<2?"yes":"no";}]]></script><text x="600" y="24" text-anchor="middle">${escaped(title)}</text>${rows.join("")}</svg>`;
}

const pack = (text) => deflateRawSync(Buffer.from(text)).toString("base64");

/** Profiles of the first steps for all variants, and of what differs from the first. */
export function sampleProfiles(random, names, steps) {
  const callees = [
    ["pg_plan_queries", 20.3],
    ["pg_parse_query", 12.2],
    ["pg_analyze_and_rewrite", 25.7],
    ["PortalRun", 33.1],
    ["ReadyForQuery", 4.1],
  ];
  return steps.slice(0, 3).map((step) => {
    const shares = names.map(() =>
      callees.map(([name, share]) => [name, Number((share * (0.9 + 0.2 * random())).toFixed(2))]),
    );
    const flame = (variant, base) => ({
      variant,
      ...(base !== undefined && { base }),
      samples: 2400 + variant,
      svg: pack(
        drawing(`${step.name}: ${names[variant]}`, [
          ["all", 100],
          ["postgres", 100],
          ["<main>", 98],
          ...shares[variant],
        ]),
      ),
    });
    return {
      step: step.name,
      dop: step.dop,
      flames: [
        ...names.map((_, variant) => flame(variant)),
        ...names.slice(1).map((_, index) => flame(index + 1, 0)),
      ],
      tables: [
        {
          id: `children.${step.name}.${step.dop}`,
          section: "hardware",
          step: step.name,
          title: `Percentage of samples for children of PostgresMain: ${step.name}`,
          legend: ["100% are the samples with PostgresMain in their call stack"],
          columns: ["function", ...names],
          rows: callees.map(([name], row) => ({
            label: name,
            cells: names.map((_, variant) => shares[variant][row][1].toFixed(2)),
          })),
        },
      ],
    };
  });
}
