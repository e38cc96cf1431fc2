/** `posthaste doctor`: is everything there? */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";

export function addDoctor(program: Command, perform: Perform): void {
  program
    .command("doctor")
    .description("ask whether every service is ready; ends with 3 when one is not")
    .action((_: object, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const { body } = await api.probe("/readyz");
        const checks = checksOf(body);
        if (checks === undefined) {
          throw new CliError(EXIT.failed, "what answers there is not Posthaste's control", {
            hint: "--url names control; npm start prints where it is",
          });
        }
        printer.list(
          checks.map(([name, state]) => ({ name, ready: state === true, missing: state === true ? null : state })),
          ["name", "ready", "missing"],
        );
        const missing = checks.filter(([, state]) => state !== true).map(([name]) => name);
        printer.say(missing.length === 0 ? "everything is ready" : `not ready: ${missing.join(", ")}`);
        return missing.length === 0 ? EXIT.done : EXIT.no;
      }),
    )
    .addHelpText("after", examples(["posthaste doctor", "posthaste doctor --json --quiet"]));
}

/** Names of what is waited for, and `true` or what is missing. */
function checksOf(body: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (typeof body !== "object" || body === null || !("checks" in body)) return undefined;
  return typeof body.checks === "object" && body.checks !== null ? Object.entries(body.checks) : undefined;
}
