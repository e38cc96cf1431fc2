/** `posthaste doctor`: checks of the whole installation, each with a remedy where it fails. */
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Context, Perform } from "../context.ts";
import { type Entry, entriesOf, isEntry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";

/** Longer than control gives each of its checks, and the one of the receivers. */
const EXTRA_MS = 5000;
const REACH_EXTRA_MS = 65_000;

interface Options {
  readonly only?: string;
  readonly reach?: true;
}

export function addDoctor(program: Command, perform: Perform): void {
  program
    .command("doctor")
    .description(
      "services, brokers, topics, schemas, groups, clocks, keys and more: what is wrong, and what to do; " +
        "without a token, whether every service is ready; ends with 3 when something is wrong",
    )
    .option("--only <checks>", "these checks alone, divided by commas: brokers,replication")
    .option("--reach", "connect to the server of each destination too; nothing is sent")
    .action((options: Options, command: Command) =>
      perform(command, async (context) => {
        const ready = await readinessOf(context);
        // Until it has read its tables control answers nothing else.
        const isServing = ready.every(([name, state]) => name !== "tables" || state === true);
        return context.api.hasToken && isServing ? examine(context, options) : printReadiness(context, ready);
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste doctor", "posthaste doctor --only brokers,replication", "posthaste doctor --json --quiet"]),
    );
}

type Readiness = readonly (readonly [string, unknown])[];

/** Names of the checks, each with `true` or the missing step. Throws CliError where that is not control. */
async function readinessOf({ api }: Context): Promise<Readiness> {
  const { body } = await api.probe("/readyz");
  if (isEntry(body) && isEntry(body.checks)) return Object.entries(body.checks);
  throw new CliError(EXIT.failed, "what answers there is not Posthaste's control", {
    hint: "--url names control; npm start prints where it is",
  });
}

function printReadiness({ printer }: Context, checks: Readiness): ExitCode {
  printer.list(
    checks.map(([name, state]) => ({ name, ready: state === true, missing: state === true ? null : state })),
    ["name", "ready", "missing"],
  );
  const missing = checks.filter(([, state]) => state !== true).map(([name]) => name);
  printer.say(missing.length === 0 ? "everything is ready" : `not ready: ${missing.join(", ")}`);
  return missing.length === 0 ? EXIT.done : EXIT.no;
}

async function examine({ api, printer }: Context, { only, reach }: Options): Promise<ExitCode> {
  const query = new URLSearchParams({ ...(only === undefined ? {} : { only }), ...(reach ? { reach: "true" } : {}) });
  const path = query.size === 0 ? "/v1/doctor" : `/v1/doctor?${query}`;
  const answer = await api.call("GET", path, undefined, reach ? REACH_EXTRA_MS : EXTRA_MS);
  const checks = entriesOf(answer.checks);
  if (printer.isJson) printer.document(answer);
  else printer.lines(checks.flatMap(linesOf));
  const bad = checks
    .filter(({ state }) => state !== "ok")
    .map(({ name, state }) => `${cellText(name)} (${cellText(state)})`);
  printer.say(bad.length === 0 ? "everything is well" : `look at: ${bad.join(", ")}`);
  return answer.ok === true ? EXIT.done : EXIT.no;
}

const SIGNS: Readonly<Record<string, string>> = { ok: "●", warning: "▲", unknown: "?", wrong: "■" };

/** The check, and below it each finding with its remedy. */
function linesOf({ name, state, findings }: Entry): readonly string[] {
  return [
    `${SIGNS[String(state)] ?? "?"} ${cellText(name)}: ${cellText(state)}`,
    ...entriesOf(findings).flatMap(({ what, remedy }) => [`  ${cellText(what)}`, `    → ${cellText(remedy)}`]),
  ];
}
