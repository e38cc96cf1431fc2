/** `posthaste destinations`: where a source's events go. */
import type { Command } from "commander";
import { readInput } from "../access.ts";
import type { Context, Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { append, collect, given, numberOrNone } from "../options.ts";
import { addDestinationHealth } from "./destination-health.ts";
import { readSettings } from "./settings-file.ts";
import { addGet, addList, addRemove } from "./stored-commands.ts";

const PATH = "/v1/destinations";
const COLUMNS = ["id", "name", "enabled", "sourceIds", "settings.urls", "secretStage"];

interface SettingOptions {
  readonly name?: string;
  readonly sourceIds?: readonly string[];
  readonly enabled?: boolean;
  readonly urls?: readonly string[];
  readonly sharedSecretFile?: string;
  readonly settle?: string;
  readonly rateLimitPerSecond?: number | "none";
  readonly standardWebhooks?: boolean;
  readonly responseLog?: string;
  readonly payload?: string;
  readonly settingsFile?: string;
}

export function addDestinations(program: Command, perform: Perform): void {
  const destinations = program.command("destinations").description("where a source's events go");

  const stored = { group: destinations, perform, path: PATH };
  addList({
    ...stored,
    columns: COLUMNS,
    cells: { "settings.urls": (entry) => storedUrls(entry).map(({ url }) => url) },
    description: "list destinations, oldest first",
    examples: ["posthaste destinations list", "posthaste destinations list --json"],
  });

  addGet({
    ...stored,
    description: "show one destination; secrets never come out",
    examples: ["posthaste destinations get dst_4k2v8m1n0p3q5r7s --json"],
  });

  addDestinationHealth(destinations, perform);

  addCreate(destinations, perform);
  addUpdate(destinations, perform);
  addRemove({
    ...stored,
    kind: "destination",
    description: "remove destinations; what waits for them becomes dead letters",
    examples: ["posthaste destinations remove dst_4k2v8m1n0p3q5r7s"],
  });
}

function addCreate(destinations: Command, perform: Perform): void {
  withSettings(
    destinations
      .command("create")
      .description("make a destination")
      .requiredOption("--name <name>", "a name for people"),
  )
    .option("--no-enabled", "send nothing yet")
    .action((options: SettingOptions, command: Command) =>
      perform(command, async (context) => {
        const settings = await settingsFrom(context, options, []);
        const { name, enabled, sourceIds } = options;
        const body = given({ type: "Webhooks", name, enabled, sourceIds, settings });
        const destination = await context.api.call("POST", PATH, body);
        context.printer.document(destination);
        sayNext(context.printer, [
          [["send", destination.id], "sends it a test event"],
          [["destinations", "remove", destination.id], "undoes it"],
        ]);
        return EXIT.done;
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste destinations create --name Billing --source-ids src_4k2v8m1n0p3q5r7s --urls https://billing.example/hook",
        "posthaste destinations create --name Billing --urls https://a.example --urls https://b.example --shared-secret-file secret.txt",
        "posthaste destinations create --name Billing --settings-file settings.json",
      ]),
    );
}

function addUpdate(destinations: Command, perform: Perform): void {
  withSettings(
    destinations
      .command("update <id>")
      .description("change a destination; what is not named stays")
      .option("--name <name>", "a name for people"),
  )
    .option("--enabled", "send events")
    .option("--no-enabled", "send nothing")
    .option("--no-standard-webhooks", "without the headers of Standard Webhooks")
    .action((id: string, options: SettingOptions, command: Command) =>
      perform(command, async (context) => {
        const stored = options.urls === undefined ? [] : storedUrls(await context.api.call("GET", pathOf(id)));
        const settings = await settingsFrom(context, options, stored);
        const { name, enabled, sourceIds } = options;
        const patch = given({ name, enabled, sourceIds, ...(Object.keys(settings).length > 0 && { settings }) });
        if (Object.keys(patch).length === 0) throw new CliError(EXIT.usage, "name at least one thing to change");
        context.printer.document(await context.api.call("PATCH", pathOf(id), patch));
        sayNext(context.printer, [
          enabled === false
            ? [["destinations", "update", id, "--enabled"], "sends it events again"]
            : [["send", id], "sends it a test event"],
        ]);
        return EXIT.done;
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste destinations update dst_4k2v8m1n0p3q5r7s --no-enabled",
        "posthaste destinations update dst_4k2v8m1n0p3q5r7s --rate-limit-per-second none --settle each",
      ]),
    );
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

function withSettings(command: Command): Command {
  return command
    .option("--source-ids <ids>", "sources whose events it gets, divided by commas", collect)
    .option("--urls <url>", "where events go; once for each of up to five URLs", append)
    .option("--shared-secret-file <path>", "file that holds the shared secret; - reads standard input")
    .option("--settle <rule>", "any: one 2xx settles a delivery; each: every URL is retried on its own")
    .option("--rate-limit-per-second <n>", "requests a second at the most; none for no limit", numberOrNone)
    .option("--standard-webhooks", "also send the headers of Standard Webhooks")
    .option("--response-log <which>", "response bodies that the delivery log keeps: failures, all or off")
    .option("--payload <which>", "documented: bodies of the documented shapes; full: with what the call had besides")
    .option("--settings-file <path>", "the API's settings as JSON, headers included; other options go over it");
}

/**
 * The API's `settings` of the named options. A URL that is stored keeps its headers, whose values only control knows.
 */
async function settingsFrom(
  { terminal }: Context,
  options: SettingOptions,
  stored: readonly Entry[],
): Promise<Record<string, unknown>> {
  const { urls, settle, rateLimitPerSecond, standardWebhooks, responseLog, payload } = options;
  const { sharedSecretFile, settingsFile } = options;
  const file = settingsFile === undefined ? {} : await readSettings(terminal, settingsFile);
  const sharedSecret =
    sharedSecretFile === undefined ? undefined : await readSecret(terminal, sharedSecretFile, "--shared-secret-file");
  return {
    ...file,
    ...given({
      urls: urls?.map((url) => stored.find((entry) => entry.url === url) ?? { url }),
      settle,
      rateLimitPerSecond: rateLimitPerSecond === "none" ? null : rateLimitPerSecond,
      standardWebhooks,
      responseLog,
      payload,
      sharedSecret,
    }),
  };
}

/** The file's text without the line end that editors put behind it. */
export async function readSecret(terminal: Context["terminal"], path: string, option: string): Promise<string> {
  return (await readInput(terminal, path, option)).replace(/\r?\n$/, "");
}

function storedUrls(destination: Entry): readonly Entry[] {
  const { settings } = destination;
  if (typeof settings !== "object" || settings === null || !("urls" in settings)) return [];
  return Array.isArray(settings.urls) ? settings.urls : [];
}
