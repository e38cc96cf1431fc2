/** `posthaste replays`: dead letters that are sent again, how far that is, and stopping it. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { addGet, addList } from "./stored-commands.ts";
import { sayHowToGoOn, watchReplay } from "./watch-replay.ts";

const PATH = "/v1/replays";
const COLUMNS = [
  ...["id", "state", "matched", "replayed", "ratePerSecond", "startedAt", "endedAt"],
  ...["delivered", "failedAgain"],
];
const EXAMPLE = "rpl_4k2v8m1n0p3q5r7s";

const ACTS = {
  pause: "stop a replay until it is resumed; ends with 3 when it has ended",
  resume: "go on with a replay that is paused",
  cancel: "stop a replay for good, and say how many went",
} as const;

export function addReplays(program: Command, perform: Perform): void {
  const replays = program.command("replays").description("dead letters that are sent again, and how far that is");

  addList({
    ...{ group: replays, perform, path: PATH, columns: COLUMNS },
    description: "list replays, oldest first; they are kept for 14 days after their end",
    examples: ["posthaste replays list", "posthaste replays list --json"],
  });

  addGet({
    ...{ group: replays, perform, path: PATH },
    description: "how far a replay is",
    examples: [`posthaste replays get ${EXAMPLE}`],
  });

  replays
    .command("watch <id>")
    .description("follow a replay to its end; Ctrl-C leaves it running; ends with 6 when it was cancelled or failed")
    .action((id: string, _: object, command: Command) => perform(command, (context) => watchReplay(context, id)))
    .addHelpText("after", examples([`posthaste replays watch ${EXAMPLE}`]));

  for (const act of ["pause", "resume", "cancel"] as const) {
    replays
      .command(`${act} <id>`)
      .description(ACTS[act])
      .action((id: string, _: object, command: Command) =>
        perform(command, async ({ api, printer }) => {
          const replay = await api.call("POST", `${PATH}/${encodeURIComponent(id)}/${act}`);
          printer.document(replay);
          printer.say(`${id} is ${replay.state}: ${replay.replayed} of ${replay.matched} went`);
          if (act === "resume") sayHowToGoOn(printer, id);
          if (act === "pause") sayNext(printer, [[["replays", "resume", id], "goes on with it"]]);
          return EXIT.done;
        }),
      )
      .addHelpText("after", examples([`posthaste replays ${act} ${EXAMPLE}`]));
  }
}
