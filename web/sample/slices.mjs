/** Made-up slices of a step: rates per round and the ratio as restarts came. */

const four = (value) => Number(value.toPrecision(4));
const six = (value) => Number(value.toPrecision(6));

/** Student's t, 97.5%, by degrees of freedom. */
const T = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/** Why a slice has no rate, as the command says it. */
export const REASONS = [
  "measured",
  "set aside: a server that should have been idle worked",
  "set aside: more was written to the device than this server writes itself",
  "not measured: another server held a client, or a client had nothing left to do",
];

function restart(random, { block, levels, points, each, begin }) {
  const speed = 1 + (random() - 0.5) * 0.06;
  const noise = each > 1 ? 0.01 : 0.03;
  const aside = [];
  const rates = levels.map((level, variant) =>
    Array.from({ length: points }, (_, point) => {
      if (random() < 0.012) {
        aside.push([point, variant, 1 + Math.floor(random() * 3), 1]);
        if (each === 1) return null;
      }
      const warm = point < 2 ? 0.88 : 1;
      const slow = random() < 0.01 ? 0.8 : 1;
      return four(level * speed * warm * slow * (1 + (random() - 0.5) * 2 * noise));
    }),
  );
  const ends = (factor) =>
    each > 1
      ? rates.map((line) =>
          line.map((rate) => four(rate * (1 + factor * (0.02 + random() * 0.05)))),
        )
      : [];
  return {
    block: begin + block,
    rounds: points * each,
    length: four(points * each * 0.04),
    seconds: Array.from({ length: points }, (_, point) => four((point + 0.5) * each * 0.04)),
    levels: levels.map((level) => four(level * speed)),
    rates,
    low: ends(-1),
    high: ends(1),
    aside,
  };
}

function running(random, variant, wanted, blocks) {
  const logs = blocks.map(() => Math.log(wanted) + (random() - 0.5) * 0.016);
  return {
    variant,
    restarts: blocks.map((block, index) => {
      const known = logs.slice(0, index + 1);
      const mean = known.reduce((sum, log) => sum + log, 0) / known.length;
      const sum = known.reduce((total, log) => total + (log - mean) ** 2, 0);
      const half =
        (T[Math.min(index, T.length) - 1] ?? 2.05) * Math.sqrt(sum / index / known.length);
      const end = (sign) => (index === 0 ? null : six(Math.exp(mean + sign * half)));
      const own = six(Math.exp(logs[index]));
      return { block, own, ratio: six(Math.exp(mean)), low: end(-1), high: end(1) };
    }),
  };
}

/** The slices of a step whose variants have these levels. */
export function sampleSlices(random, levels, { restarts, points, each = 1, shorter = 0 }) {
  const all = Array.from({ length: restarts }, (_, block) =>
    restart(random, { block, levels, points, each, begin: 1 }),
  );
  const blocks = all.map(({ block }) => block);
  return {
    length_ms: 40,
    rounds_per_point: each,
    shorter,
    restarts: all,
    margin: [0.98, 1.02],
    running: levels.flatMap((level, variant) =>
      variant === 0 ? [] : [running(random, variant, level / levels[0], blocks)],
    ),
  };
}
