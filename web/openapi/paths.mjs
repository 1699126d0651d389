/**
 * The paths of the service, for `openapi.json`. Schemas are those of `generated/page.ts` by name.
 */

const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const said = (description) => ({
  description,
  content: { "text/plain; charset=utf-8": { schema: { type: "string" } } },
});
const parameter = (name, where, description, schema) => ({
  name,
  in: where,
  required: true,
  description,
  schema,
});

/** What any request may be answered. */
const REFUSED = {
  401: said("A token is missing or not known."),
  429: said("Too many wrong tokens came from this address. `Retry-After` has the seconds."),
  503: said("The results are busy or cannot be read. Another request may succeed."),
};

/** What a request for a document may be answered, too. */
const NOT_SHOWN = {
  304: { description: "The document with the tag in `If-None-Match` has not changed." },
  404: said("There is no such document."),
  421: said("Without a token, the service answers only as `localhost` or `127.0.0.1`."),
  ...REFUSED,
};

const document = (id, summary, content, parameters = []) => ({
  get: {
    operationId: id,
    summary,
    tags: ["documents"],
    parameters,
    responses: { 200: { description: summary, content }, ...NOT_SHOWN },
  },
});

/** A JSON document, or why the results cannot be shown. */
const json = (name) => ({
  "application/json": { schema: { anyOf: [ref(name), ref("ProblemDocument")] } },
});

const ID = parameter("id", "path", "Number of an experiment.", { type: "integer", minimum: 1 });
const NAME = { type: "string", pattern: "^[A-Za-z0-9._-]+$" };
const ORDER = { type: "string", enum: ["version", "date"] };
const HASH = { type: "string", pattern: "^[0-9a-f]{64}$" };
const BYTES = { type: "integer", minimum: 0, maximum: 2 ** 53 - 1 };

const receipt = (description) => ({
  description,
  content: { "application/json": { schema: ref("Receipt") } },
});

/** What a request of a machine that pushes may be answered, too. */
const NOT_TAKEN = {
  400: said("Something in the request is missing or malformed."),
  403: said("This token, or this service, does not receive experiments."),
  ...REFUSED,
};

const SHA256 = parameter("sha256", "path", "SHA-256 of the file.", HASH);
const LENGTH = parameter("length", "query", "Bytes of the whole file.", BYTES);

export const paths = {
  "/api/v1/overview.json": document("overview", "What needs a look now.", json("OverviewDocument")),
  "/api/v1/experiments.json": document(
    "experiments",
    "All experiments at a glance, newest first.",
    json("ExperimentsDocument"),
  ),
  "/api/v1/experiments/{id}.json": document("experiment", "The data of a report.", json("Page"), [
    ID,
  ]),
  "/api/v1/experiments/{id}/summary.json": document(
    "summary",
    "The outcome of an experiment in a few words, and what moved.",
    json("SummaryDocument"),
    [ID],
  ),
  "/api/v1/experiments/{id}/summary.md": document(
    "summaryText",
    "The same as Markdown, for a pull request.",
    { "text/markdown; charset=utf-8": { schema: { type: "string" } } },
    [ID],
  ),
  "/api/v1/experiments/{id}/badge.svg": document(
    "badge",
    "The same as a badge.",
    { "image/svg+xml": { schema: { type: "string" } } },
    [ID],
  ),
  "/api/v1/experiments/{id}/notes": {
    post: {
      operationId: "note",
      summary: "Adds a note to an experiment, by the name of the token.",
      tags: ["notes"],
      parameters: [ID],
      requestBody: {
        required: true,
        description: "At most 16 KB.",
        content: { "application/json": { schema: ref("SentNote") } },
      },
      responses: {
        201: said("It was added."),
        404: said("There is no such experiment."),
        413: said("It is too large."),
        422: said("It says too little, or the experiment has no such step or variant."),
        ...NOT_TAKEN,
      },
    },
  },
  "/api/v1/machines.json": document(
    "machines",
    "Machines, their facts and noise.",
    json("MachinesDocument"),
  ),
  "/api/v1/live.json": document("live", "The runs under way.", json("LiveDocument")),
  "/api/v1/live": {
    get: {
      operationId: "liveEvents",
      summary: "The same whenever it changes, as server-sent events: each has a `LiveDocument`.",
      tags: ["live"],
      responses: {
        200: {
          description: "It ends after twenty minutes, and can be asked for again.",
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        404: said("This service knows of no runs."),
        421: NOT_SHOWN[421],
        ...REFUSED,
      },
    },
  },
  "/api/v1/live/{process}/stop": {
    post: {
      operationId: "stop",
      summary: "Asks a run to end, as Ctrl-C does. What it has finished is kept.",
      tags: ["live"],
      parameters: [
        parameter("process", "path", "As `live.json` names it.", { type: "integer", minimum: 1 }),
      ],
      responses: {
        202: said("It was asked to."),
        404: said("There is no such run under way."),
        409: said("The run is on another machine, or another user's."),
        ...NOT_TAKEN,
      },
    },
  },
  "/api/v1/live/{process}/{began}": {
    parameters: [
      parameter("process", "path", "Number of its process.", { type: "integer", minimum: 1 }),
      parameter("began", "path", "When it began, in milliseconds since 1970 (UTC).", {
        type: "integer",
        minimum: 0,
      }),
    ],
    put: {
      operationId: "report",
      summary:
        "A run on another machine reports; without another report, it is shown for 90 seconds.",
      tags: ["live"],
      requestBody: {
        required: true,
        description: "A `LiveRun`, with the same process and beginning.",
        content: { "application/json": { schema: { type: "object" } } },
      },
      responses: {
        200: said("It is shown, under the name of the token."),
        413: said("It is too large, or was cut off."),
        429: said("Too many runs of this token report."),
        404: said("This service knows of no runs."),
        ...NOT_TAKEN,
      },
    },
    delete: {
      operationId: "ended",
      summary: "A run on another machine has ended.",
      tags: ["live"],
      responses: {
        200: said("It is not shown any more."),
        404: said("This service knows of no runs."),
        ...NOT_TAKEN,
      },
    },
  },
  "/api/v1/runs": {
    post: {
      operationId: "start",
      summary: "Starts a run of a plan, or continues the latest unfinished one of it.",
      tags: ["live"],
      requestBody: {
        required: true,
        description: "Which plan.",
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["plan"],
              additionalProperties: false,
              properties: {
                plan: { type: "string", description: "As `live.json` names it." },
                resume: { type: "boolean", description: "Its latest unfinished run continues." },
              },
            },
          },
        },
      },
      responses: {
        202: said("It has begun, or has not failed in ten seconds."),
        404: said("There is no such plan."),
        409: said("Another run is just being started."),
        422: said("It has failed; what it said."),
        ...NOT_TAKEN,
      },
    },
  },
  "/api/v1/history.json": document(
    "histories",
    "Which histories there are.",
    json("HistoriesDocument"),
  ),
  "/api/v1/history/{workload}/{machine}/{order}/{metric}.json": document(
    "history",
    "A metric of every step over versions or dates, on one machine, with its changes.",
    json("HistoryDocument"),
    [
      parameter("workload", "path", "As `history.json` names it.", NAME),
      parameter("machine", "path", "As `history.json` names it.", NAME),
      parameter("order", "path", "What the runs are ordered by.", ORDER),
      parameter("metric", "path", "As `history.json` names it.", NAME),
    ],
  ),
  "/api/v1/archives/{content}": {
    get: {
      operationId: "find",
      summary: "Where the experiment with a content is, if it has these notes.",
      tags: ["receiving"],
      parameters: [
        parameter("content", "path", "Hash of the content of an experiment.", HASH),
        parameter("began", "query", "When it began, ms since 1970 (UTC).", { type: "integer" }),
        {
          ...parameter("notes", "query", "Marks of its notes, separated by `-`.", {
            type: "string",
          }),
          required: false,
        },
      ],
      responses: {
        200: receipt("It is here."),
        404: said("This experiment is not here."),
        ...NOT_TAKEN,
      },
    },
  },
  "/api/v1/uploads/{sha256}": {
    head: {
      operationId: "offset",
      summary: "How much of a file is here.",
      tags: ["receiving"],
      parameters: [SHA256, LENGTH],
      responses: {
        200: {
          description: "It may be nothing yet.",
          headers: { "Upload-Offset": { description: "Bytes that are here.", schema: BYTES } },
        },
        ...NOT_TAKEN,
      },
    },
    put: {
      operationId: "send",
      summary: "Adds the next piece of a file. The answer to the last says where it was stored.",
      tags: ["receiving"],
      parameters: [
        SHA256,
        LENGTH,
        parameter("Upload-Offset", "header", "Bytes of the file before this piece.", BYTES),
      ],
      requestBody: {
        required: true,
        description: "At most 8 MB.",
        content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
      },
      responses: {
        200: receipt("The piece was added."),
        408: said("The piece did not come in time."),
        409: receipt("Another offset is expected: the one in this answer."),
        413: said("The piece or the file is too large."),
        422: said("The file is not what was announced, or not an experiment."),
        507: said("Unfinished uploads take all the space that they may."),
        ...NOT_TAKEN,
      },
    },
  },
  "/metrics": {
    get: {
      operationId: "metrics",
      summary: "What the service has done, for Prometheus.",
      tags: ["service"],
      responses: {
        200: {
          description: "Counters.",
          content: { "text/plain; version=0.0.4; charset=utf-8": { schema: { type: "string" } } },
        },
        421: NOT_SHOWN[421],
        ...REFUSED,
      },
    },
  },
};

/** Schemas of what is not a page's document. */
export const schemas = {
  ProblemDocument: {
    description: "Why results cannot be shown.",
    type: "object",
    required: ["format", "problem"],
    properties: { format: { type: "integer" }, problem: { type: "string" } },
  },
  SentNote: {
    description: "What somebody says of a difference.",
    type: "object",
    required: ["kind"],
    additionalProperties: false,
    properties: {
      kind: { type: "string", enum: ["expected", "bug", "fixed", "noise", "withdrawn"] },
      text: { type: "string", description: "The address of a bug, or the version of a fix." },
      step: { type: ["string", "null"], description: "Only this step." },
      dop: { type: ["integer", "null"], minimum: 0, maximum: 2 ** 32 - 1 },
      variant: { type: ["string", "null"], description: "Only this variant." },
    },
  },
  Receipt: {
    description: "The answer to a piece of a file.",
    type: "object",
    required: ["offset"],
    properties: {
      offset: { ...BYTES, description: "Bytes of the file that are here." },
      stored: {
        description: "Where the experiment is, if all of it is here.",
        type: "object",
        required: ["state", "experiment"],
        properties: {
          state: { type: "string", enum: ["added", "present"] },
          experiment: { type: "integer" },
        },
      },
    },
  },
};
