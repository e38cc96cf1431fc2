/** Damages of the bounds that protect ingest. */
const INGEST_SRC = "services/ingest/src";
const BODY = `${INGEST_SRC}/body`;
const FAIRNESS = `${INGEST_SRC}/fairness`;

const ofBody = (damage, from, to) => ({
  ...{ damage: `inflated body: ${damage}`, file: `${BODY}/inflated-body.ts`, from, to },
  tests: [`${BODY}/inflated-body.test.ts`, `${BODY}/batch-body.test.ts`],
});
const ofBudget = (damage, from, to) => ({
  ...{ damage: `body budget: ${damage}`, file: `${BODY}/body-budget.ts`, from, to },
  tests: [`${BODY}/body-budget.test.ts`],
});
const ofQueue = (damage, from, to) => ({
  ...{ damage: `work queue: ${damage}`, file: `${FAIRNESS}/work-queue.ts`, from, to },
  tests: [`${FAIRNESS}/work-queue.test.ts`],
});
const ofSorter = (damage, from, to) => ({
  ...{ damage: `batch: ${damage}`, file: `${INGEST_SRC}/accept/sort-calls.ts`, from, to },
  tests: [`${INGEST_SRC}/accept/sort-calls.test.ts`, "services/ingest/test/acceptance.test.ts"],
});
const ofCalls = (damage, from, to, ...tests) => ({
  ...{ damage: `path of a request: ${damage}`, file: `${INGEST_SRC}/request/take-calls.ts`, from, to, tests },
});

/** @type {typeof import("./damages.mjs").DAMAGES} */
export const INGEST = [
  ofBody("objects are not counted", "if (--containers < 0) return true;", ""),
  ofBody("values are not counted", "if (--commas < 0 || (depth", "if ((depth"),
  ofBody("escapes are not counted", "if (--escapes < 0) return true;", ""),
  ofBody("digits and blanks are not counted", "if (digits < 0) return true;", ""),
  ofBody("calls are not counted", "&& --calls < 1)", "&& false)"),
  ofBody("all of each kind together is taken", "return sharesOf(most, left) > SHARES_TOGETHER;", "return false;"),
  ofBody(
    "long text that is not ASCII is taken",
    "if (content.length > mostOfBrotli(sentBytes) && !isAscii(content)) return true;",
    "",
  ),
  ofBudget("no bound of the whole", "held.all + bytes > maxBytes ||", "false ||"),
  ofBudget("no share of strangers", "held.strangers + bytes > maxBytes * STRANGERS", "false"),
  ofBudget("no share of strangers' large bodies", "held.strangersLarge + large > maxBytes * STRANGERS_LARGE", "false"),
  ofBudget("no share left for small bodies", "held.large + large > maxBytes * LARGE", "false"),
  ofBudget("no share of an address", "> maxBytes * ONE_ADDRESS", "> maxBytes"),
  ofBudget("no share of a source", "+ bytes > most ?", "+ bytes > Infinity ?"),
  ofBudget("the slowest is not cut off", "if (rate >= least) continue;", "continue;"),
  ofBudget("no least rate", "if (body.windowBytes < LEAST_WINDOW_BYTES) {", "if (false) {"),
  ofQueue("any number of long pieces is begun", "this.#begun < MAX_BEGUN", "true"),
  ofQueue("work is done as it comes", "if (this.#sources.size === 0 && this.#hasTime(sender))", "if (true)"),
  ofQueue("strangers have the whole round", "this.#strangersSpentMs < STRANGERS_ROUND_MS);", "true);"),
  {
    damage: "AC1: a call is answered before the brokers have it",
    file: `${INGEST_SRC}/accept/accept.ts`,
    from: "const isAcknowledged = await this.#acknowledgements.of(sent);",
    to: "const isAcknowledged = true;\n    void this.#acknowledgements.of(sent);",
    tests: ["services/ingest/test/acceptance.test.ts"],
  },
  {
    damage: "AC1: a call waits for no broker",
    file: `${INGEST_SRC}/accept/acknowledge.ts`,
    from: "if (this.#timer === null) this.#wakeIn(this.#timeoutMs);",
    to: "resolve(true);",
    tests: [`${INGEST_SRC}/accept/acknowledge.test.ts`],
  },
  {
    damage: "fair queue: a sender with its share is let in",
    file: `${FAIRNESS}/fair-queue.ts`,
    from: ">= maxWaitingCost / sharers;",
    to: "< 0;",
    tests: [`${FAIRNESS}/fair-queue.test.ts`],
  },
  {
    damage: "authentication: any number of requests waits for the table",
    file: `${INGEST_SRC}/key/authenticate.ts`,
    from: "if (this.#waiting >= MAX_WAITING_FOR_SOURCES) return CROWDED;",
    to: "",
    tests: ["services/ingest/test/hostile.test.ts"],
  },
  {
    damage: "authentication: a refused key is looked up each time",
    file: `${INGEST_SRC}/key/authenticate.ts`,
    from: "if (remembered !== undefined) return remembered;",
    to: "",
    tests: ["services/ingest/test/hostile.test.ts"],
  },
  ofCalls(
    "a refusal by the header's key waits for the body",
    `if ("refusal" in named) return refusals.refuse(named.refusal, request, senderOf(named));`,
    "if (false) return refusals.refuse(LAGGING, request, {});",
    "services/ingest/test/hostile.test.ts",
  ),
  ofCalls(
    "the content inflated for a key is held",
    'return "refusal" in opened ? opened : authenticator.authenticate(findWriteKeys(opened.content));',
    `if ("refusal" in opened) return opened;
      const found = authenticator.authenticate(findWriteKeys(opened.content));
      return found instanceof Promise ? found.then((each) => (opened.content.length < 0 ? { ...each } : each)) : found;`,
    `${INGEST_SRC}/request/take-calls.test.ts`,
  ),
  ofCalls(
    "a limit is asked after the body",
    "return admission.ofSource(source) ?? admission.ofWork",
    "return admission.ofWork",
    "services/ingest/test/source-limit.test.ts",
  ),
  ofCalls(
    "a single call that is too large is parsed",
    "const isParsed = content.length <= MAX_CALL_BYTES;",
    "const isParsed = true;",
    "services/ingest/test/limits.test.ts",
    "services/ingest/test/hostile.test.ts",
  ),
  ofSorter(
    "a refused call counts as one",
    "calls + (REFUSED_CALL - 1) * rejected.length > most.calls",
    "calls > most.calls",
  ),
  ofSorter("any number of calls is refused", "batch.rejected.length > MAX_REJECTED_CALLS ?", "false ?"),
  ofSorter("events have any size", "if (batch.expandedBytes > most.expandedBytes) return REPEATED_CONTEXT;", ""),
  ofSorter("integrations beside the calls cost nothing", "if (keys === 0 || !isJsonObject(call))", "if (true)"),
  {
    damage: "admission: a source's own pending bytes are not counted",
    file: `${INGEST_SRC}/accept/admission.ts`,
    from: "if ((pendingOf.get(source.id) ?? 0) > maxPendingBytes - producer.pendingBytes) return LAGGING;",
    to: "",
    tests: [`${INGEST_SRC}/accept/admission.test.ts`],
  },
  {
    damage: "a source's rate: bytes are not limited",
    file: `${FAIRNESS}/rate-limit.ts`,
    from: "return Math.max(waitMsOf(calls, perSecond.calls), waitMsOf(bytes, perSecond.bytes));",
    to: "return bytes < Infinity ? waitMsOf(calls, perSecond.calls) : 0;",
    tests: [`${FAIRNESS}/rate-limit.test.ts`],
  },
  {
    damage: "active requests: a source's share is not looked at",
    file: `${FAIRNESS}/active-requests.ts`,
    from: "if (own === 0 || !isBusy()) return false;",
    to: "return own < 0;",
    tests: [`${FAIRNESS}/active-requests.test.ts`],
  },
  {
    damage: "bodies are not looked at again while they come",
    file: `${INGEST_SRC}/http/server.ts`,
    from: "const sweeping = setInterval(bodies.sweep, timeouts.checkMs);",
    to: "const sweeping = setInterval(() => {}, timeouts.checkMs);",
    tests: ["services/ingest/test/bodies.test.ts"],
  },
  ...[
    [
      "a text has any number of stand-ins",
      `if (standIn === undefined && --budget.left < 0) throw new PosthasteError("invalid_input", TOO_MANY);`,
      "",
    ],
    [
      "a text that nests too deep is not cut",
      "if (hasNestingOver(text, MAX_PARSED_NESTING)) limitNesting(value, MAX_PARSED_NESTING);",
      "",
    ],
    ["keys with an escape are left to JSON.parse", `text.includes("\\\\") ? writeKeysOut(text, budget) : null`, "null"],
  ].map(([damage, from, to]) => ({
    ...{ damage: `JSON: ${damage}`, file: "packages/core/src/call/parse-json.ts", from, to },
    tests: ["packages/core/src/call/parse-json.test.ts"],
  })),
  {
    damage: "late refusals: all are told at once",
    file: `${INGEST_SRC}/answer/late-refusals.ts`,
    from: "return reported <= PROMPT_REFUSALS;",
    to: "return true;",
    tests: [`${INGEST_SRC}/answer/late-refusals.test.ts`],
  },
  {
    damage: "late refusals: held ones are told together",
    file: `${INGEST_SRC}/answer/late-refusals.ts`,
    from: "REFUSAL_DELAY_MS * (1 + place)",
    to: "REFUSAL_DELAY_MS",
    tests: [`${INGEST_SRC}/answer/late-refusals.test.ts`],
  },
  {
    damage: "pixels: names have no bound",
    file: `${INGEST_SRC}/routes/query-call.ts`,
    from: "if (parameters.length > MAX_PARAMETERS) return null;",
    to: "",
    tests: [`${INGEST_SRC}/routes/query-call.test.ts`],
  },
  {
    damage: "pixels: the call is read before its key is known",
    file: `${INGEST_SRC}/routes/pixel.ts`,
    from: "const key = writeKeyInHeader(request.headers) ?? writeKeyInQuery(request);",
    to: "pixel.read();\n    const key = writeKeyInHeader(request.headers) ?? writeKeyInQuery(request);",
    tests: ["services/ingest/test/hostile.test.ts"],
  },
  {
    damage: "settings: 50,000 calls a second of a source by default",
    file: `${INGEST_SRC}/config.ts`,
    from: ".default(10_000)",
    to: ".default(50_000)",
    tests: [`${INGEST_SRC}/config.test.ts`],
  },
  ...[
    ["any number of open requests", "Math.max(of.requests.length, ofRead)", "ofRead"],
    ["any number of requests in a read", "Math.max(of.requests.length, ofRead)", "of.requests.length"],
    ["an exchange may last for ever", "if (sinceMs < latestMs && !mayLast(requests)) socket.destroy();", "{}"],
    ["an idle connection stays", "server.setTimeout(limits.idleMs);", ""],
    ["any number of connections", "if (connections > limits.maxConnections) longestIdle.destroy();", ""],
    [
      "a connection that is asked is closed for another",
      "    idle.delete(socket);\n    of.requests",
      "    of.requests",
    ],
    ["any number of requests a connection", "server.maxRequestsPerSocket = limits.maxRequests;", ""],
  ].map(([damage, from, to]) => ({
    ...{ damage: `sockets: ${damage}`, file: "packages/runtime/src/socket-limits.ts", from, to },
    tests: ["packages/runtime/test/socket-limits.test.ts"],
  })),
  ...[
    ["any number of pieces", "if (beyond > 0 && ", "if (false && "],
    ["any number of bytes on the wire", "return wire - this.#startWire > ", "return false && wire > "],
    ["the rest of a read is parsed", "for (const key of MESSAGE_CALLS) parser[key] = null;", ""],
    ["what is dropped is not counted", "count.request !== incoming", "incoming?._dumped"],
    ["a request has the pieces of those before it", "this.#pieces = 0;\n    this.#bytes = 0;", ""],
  ].map(([damage, from, to]) => ({
    ...{ damage: `wire pieces: ${damage}`, file: "packages/runtime/src/wire-pieces.ts", from, to },
    tests: ["packages/runtime/test/wire-pieces.test.ts"],
  })),
  {
    damage: "a body: what holds its pieces is not counted",
    file: `${BODY}/read-body.ts`,
    from: "take(chunk.length, this.#gathered.costOf(chunk))",
    to: "take(chunk.length)",
    tests: [`${BODY}/read-body.test.ts`],
  },
  ...[
    ["any number of an address", "if (ofAddress.length >= MAX_OF_ADDRESS)", "if (false)"],
    ["any number in all", "if (this.#read.size >= MAX_IN_ALL)", "if (false)"],
    ["those that came are not forgotten", 'body.once("end", forget);', ""],
  ].map(([damage, from, to]) => ({
    ...{ damage: `bodies of strangers: ${damage}`, file: "packages/http-kit/src/stranger-bodies.ts", from, to },
    tests: ["packages/http-kit/src/stranger-bodies.test.ts"],
  })),
  {
    damage: "bodies of strangers: one of any size",
    file: "packages/http-kit/src/serve-route.ts",
    from: '(need === "none" ? MAX_STRANGER_BODY_BYTES : MAX_BODY_BYTES)',
    to: "MAX_BODY_BYTES",
    tests: ["packages/http-kit/src/stranger-bodies.test.ts"],
  },
  ...[
    ["any number of bytes", "- question.since <= maxBytes", "- question.since <= 2 ** 40"],
    ["any time", "}, deadlineMs);", "}, 2 ** 30);"],
    ["one bound for all answers of a connection", "since: socket.bytesRead", "since: 0"],
    ["a read comes in one piece", "    handOnInPieces(made);", ""],
  ].map(([damage, from, to]) => ({
    ...{ damage: `answers: ${damage}`, file: "packages/kafka/src/codec/answer-bounds.ts", from, to },
    tests: ["packages/kafka/src/codec/answer-bounds.test.ts"],
  })),
  {
    damage: "sockets: the metrics port has no bounds",
    file: "packages/runtime/src/admin-server.ts",
    from: "limitSockets(server, ADMIN_SOCKET_LIMITS);",
    to: "",
    tests: ["packages/runtime/src/admin-server.test.ts"],
  },
  {
    damage: "the metrics port: a render for each request",
    file: "packages/runtime/src/admin-server.ts",
    from: "await options.page.ask()",
    to: "await renderMetrics(options)",
    tests: ["packages/runtime/src/admin-server.test.ts"],
  },
  ...[
    ["any number of header lines", "lines.length <= 2 * MAX_HEADER_LINES;", "lines.length <= 2 ** 30;"],
    ["one header line too few", "lines.length <= 2 * MAX_HEADER_LINES;", "lines.length < 2 * MAX_HEADER_LINES;"],
    ["a request is made of what came", "parser.onIncoming = () => 0;", ""],
    ["the rest of a read is parsed", "stopParsing(its);", ""],
  ].map(([damage, from, to]) => ({
    ...{ damage: `heads: ${damage}`, file: "packages/runtime/src/header-lines.ts", from, to },
    tests: ["packages/runtime/test/header-lines.test.ts"],
  })),
  ...[
    ["each call has its own", "this.#next ??= this.#makeNext();", "this.#next = this.#makeNext();"],
    ["a call gets one that was begun before", "    this.#next = null;\n", ""],
    ["no rest", "REST_TIMES * (now() - begunMs)", "0"],
    [
      "a rest of any length",
      "Math.min(MOST_REST_MS, REST_TIMES * (now() - begunMs))",
      "REST_TIMES * (now() - begunMs)",
    ],
  ].map(([damage, from, to]) => ({
    ...{ damage: `an answer for all: ${damage}`, file: "packages/runtime/src/shared-answer.ts", from, to },
    tests: ["packages/runtime/src/shared-answer.test.ts"],
  })),
  ...[
    ["any number in a turn", "if (left > 0 && waiting.size === 0) {", "if (waiting.size === 0) {"],
    ["an address at a time", "      waiting.delete(address);\n      const next", "      const next"],
    ["one that was cut off is handed on", "if (request.socket.destroyed) return;", ""],
  ].map(([damage, from, to]) => ({
    ...{ damage: `requests in turns: ${damage}`, file: "packages/runtime/src/request-turns.ts", from, to },
    tests: ["packages/runtime/src/request-turns.test.ts"],
  })),
  ...[
    ["control's", "packages/http-kit/src/server.ts", "inTurns(handler)", "handler"],
    ["the admin ports'", "packages/runtime/src/admin-server.ts", "inTurns(serve)", "serve"],
  ].map(([whose, file, from, to]) => ({
    ...{ damage: `${whose} requests come all in one turn`, file, from, to },
    tests: [file.replace(".ts", ".test.ts")],
  })),
  {
    damage: "a page of metrics is one piece of work",
    file: "packages/runtime/src/metrics-page.ts",
    from: "    await loopTurned();\n",
    to: "",
    tests: ["packages/runtime/src/metrics-page.test.ts"],
  },
  {
    damage: "each /readyz of control asks all services",
    file: "services/control/src/app.ts",
    from: "...(await services.ask()),",
    to: "...(await askServices(config.POSTHASTE_READY_URLS)),",
    tests: ["services/control/test/http.test.ts"],
  },
];
