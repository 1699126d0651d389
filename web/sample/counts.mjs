/** Made-up instruction counts for the sample pages: nothing here is measured. */

const PHASES = ["parse", "analyze", "plan", "execute", "other"];

/** Kind, rows per statement, protocols. */
const KINDS = [
  ["insert-1", 1],
  ["insert-5", 5],
  ["insert-50", 50],
  ["insert-100", 100],
  ["range-10", 10],
  ["range-100", 100],
  ["point", 0],
  ["delete", 1],
];

const STATEMENTS = 200;

/** Name, object, phase, own instructions per statement and per row. */
const FUNCTIONS = [
  ["base_yyparse", "postgres", 0, 900, 210],
  ["core_yylex", "postgres", 0, 700, 160],
  ["transformInsertStmt", "postgres", 1, 1100, 130],
  ["exprType", "postgres", 1, 300, 90],
  ["transformExprRecurse", "postgres", 1, 410, 120],
  ["standard_planner", "postgres", 2, 2600, 12],
  ["eval_const_expressions_mutator", "postgres", 2, 800, 95],
  ["ExecInterpExpr", "postgres", 3, 400, 310],
  ["ExecModifyTable", "postgres", 3, 350, 95],
  ["heap_insert", "postgres", 3, 500, 480],
  ["_bt_doinsert", "postgres", 3, 620, 330],
  ["_bt_compare", "postgres", 3, 480, 390],
  ["XLogInsertRecord", "postgres", 3, 510, 260],
  ["palloc", "postgres", 3, 620, 140],
  ["AllocSetAlloc", "postgres", 3, 700, 190],
  ["__memcpy_avx_unaligned_erms", "libc.so.6", 3, 150, 75],
  ["PostgresMain", "postgres", 4, 1800, 0],
  ["pgstat_report_activity", "postgres", 4, 420, 0],
  ["CommitTransaction", "postgres", 4, 1300, 0],
  ["_int_malloc", "libc.so.6", 4, 260, 1],
];

/** An event of a kind: a regression in the second variant, and open in the others. */
function event(kind, name, names) {
  return {
    kind,
    event: name,
    counts: names.map((_, variant) => ({
      variant,
      per_statement: variant === 1 ? 520.25 : 400.5,
      repeatability: 0.001,
      relative: variant === 0 ? null : variant === 1 ? 1.29900125 : 1,
      verdict: variant === 0 ? null : variant === 1 ? "regression" : "inconclusive",
    })),
  };
}

/** What `steelyard count` says of a variant: the kind that moved most, and the phase that most of it is in. */
function sentence(kinds, names, variant) {
  const size = (kind) => Math.abs(Math.log(kind.counts[variant].relative));
  const kind = kinds.reduce((most, next) => (size(next) > size(most) ? next : most));
  const [base, count] = [kind.counts[0], kind.counts[variant]];
  const rise = count.total - base.total;
  const shares = count.phases.map(([name, value], place) => [
    name,
    (value - base.phases[place][1]) / rise,
  ]);
  const [phase, share] = shares.reduce((most, next) => (next[1] > most[1] ? next : most));
  return `${names[variant]} executes ${Math.abs((count.relative - 1) * 100).toFixed(1)}% ${rise > 0 ? "more" : "fewer"} instructions per ${count.rows > 0 ? "row" : "statement"} of ${kind.kind} (${kind.protocol}) than ${names[0]}; ${Math.min(100, Math.round(share * 100))}% of the difference is in ${phase}; ExecInterpExpr and palloc ${rise > 0 ? "grew" : "shrank"} most`;
}

/** The counts of `names`: the second executes more in expressions, the third lacks a function and is lean in planning, others as they come. */
export function sampleCounts(random, names, { small = 300, nasty = false } = {}) {
  const many = Array.from({ length: small }, (_, index) => [
    `${["heap", "index", "Exec", "pg_strtok_", "list_", "bms_", "hash_"][index % 7]}${["Fetch", "Insert", "Copy", "Next", "Check"][index % 5]}${index}${nasty && index === 3 ? "<img src=x onerror=alert(3)>" : ""}`,
    index % 11 === 0 ? "libc.so.6" : "postgres",
    index % 5,
    Math.round(60 / (1 + index * 0.1)),
    index % 3 === 0 ? 2 : 0,
  ]);
  const functions = [...FUNCTIONS, ...many];
  const own = ([name, , phase, fixed, each], rows, variant) => {
    let cost = fixed + Math.max(1, rows) * each;
    if (variant === 1 && name === "ExecInterpExpr") cost *= 1.27;
    if (variant === 1 && name === "palloc") cost *= 1.12;
    if (variant === 2 && name === "ExecModifyTable") return 0;
    if (variant === 2 && phase === 2) cost *= 0.87;
    if (variant > 2) cost *= 1 + 0.02 * Math.sin(variant * 7 + name.length);
    return Math.round(cost);
  };
  const kinds = [];
  for (const protocol of ["simple", "prepared"]) {
    for (const [kind, rows] of KINDS) {
      if (protocol === "prepared" && kind.startsWith("insert-5")) continue;
      const counts = names.map((_, variant) => {
        const costs = functions.map(
          (one) =>
            (protocol === "prepared" && one[2] < 3
              ? Math.round(own(one, rows, variant) * 0.02)
              : own(one, rows, variant)) * STATEMENTS,
        );
        const phases = PHASES.map((name, phase) => [
          name,
          costs.reduce((sum, cost, place) => sum + (functions[place][2] === phase ? cost : 0), 0),
        ]);
        const total = phases.reduce((sum, [, value]) => sum + value, 0);
        const executed = functions.map((_, place) => place).filter((place) => costs[place] > 0);
        return {
          variant,
          statements: STATEMENTS,
          rows: rows * STATEMENTS,
          total,
          repeatability: random() * 4e-6,
          relative: null,
          verdict: null,
          phases,
          functions: {
            id: executed,
            own: executed.map((place) => costs[place]),
            inclusive: executed.map((place) =>
              functions[place][3] > 1000 ? phases[functions[place][2]][1] : costs[place],
            ),
            calls: executed.map(
              (place) => STATEMENTS * Math.max(1, functions[place][4] > 0 ? rows : 1),
            ),
          },
        };
      });
      for (const count of counts.slice(1)) {
        count.relative = Number((count.total / counts[0].total).toPrecision(8));
        count.verdict =
          Math.abs(count.relative - 1) < 1e-5
            ? "same"
            : count.relative > 1.02
              ? "regression"
              : count.relative < 0.98
                ? "improvement"
                : "equivalent";
      }
      kinds.push({
        kind:
          nasty && kind === "point"
            ? "<b>point</b> of a user’s file with a name that is too long for a column"
            : kind,
        protocol,
        place: "backend",
        counts,
        left_out: 41,
      });
    }
  }
  return {
    experiment: "insert-costs",
    started: "2026-11-20T07:31:00Z",
    finished: !nasty,
    margin: 0.02,
    variants: names,
    base: 0,
    noun: "statement",
    event: "instructions",
    kinds,
    events: kinds
      .slice(0, 2)
      .flatMap((_, kind) => [event(kind, "L1 misses", names), event(kind, "system calls", names)]),
    functions: functions.map(([name, object]) => [name, object]),
    sentences: names
      .slice(1)
      .map((variant, index) => ({ variant, sentence: sentence(kinds, names, index + 1) })),
    warnings: [
      {
        code: "builds-differ",
        text: `${names[1] ?? names[0]} was compiled by gcc 13.2, ${names[0]} by gcc 12.2`,
      },
    ],
  };
}
