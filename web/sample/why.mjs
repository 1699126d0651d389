/** Made-up explanations of a step: what differs at its start, in its counters and plans. */

/** Of `names[variant]` against the first name. */
export function sampleWhy(names, { name, relative }) {
  const shifts = (id, title, variant, rows) => ({
    id: `${id}.${names[variant]}.${name}`,
    section: "hardware",
    step: name,
    title: `${title}, from ${names[0]} to ${names[variant]}: ${name}`,
    legend: ["means over the blocks that both have"],
    columns: ["", names[0], names[variant], "ratio", "sure"],
    rows: rows.map(([label, ...cells]) => ({ label, cells })),
  });
  return {
    conclusions: relative.map(({ variant, ratio }) => {
      const change = (((ratio ?? 1) - 1) * 100).toFixed(1);
      return (
        `${names[0]} to ${names[variant]}: throughput ${change}%; it reads 14.0% more from ` +
        "storage per operation; per operation, pg_stat_wal.wal_bytes +27.0%"
      );
    }),
    tables: relative.flatMap(({ variant }) => [
      shifts("start", "What the step began with", variant, [
        ["start.dead_rows", "120", "4812", "40.1", "yes"],
        ["start.bytes", "3.1e+07", "3.4e+07", "1.09", "yes"],
      ]),
      shifts("shifts", "Counters of the DBMS per operation that differ", variant, [
        ["pg_stat_wal.wal_bytes", "412", "523", "1.27", "yes"],
        ["waits.IO/DataFileRead", "0", "1.7", "–", ""],
      ]),
    ]),
    plans: relative.map(({ variant }) => ({
      variant,
      statement: "SELECT c FROM sbtest1 WHERE id=$1",
      base: ["Index Scan using sbtest1_pkey on sbtest1\n  Index Cond: (id = 17)"],
      own: ["Gather\n  Workers Planned: 1\n  ->  Seq Scan on sbtest1\n        Filter: (id = 17)"],
    })),
  };
}
