/** `posthaste completion`: the shell's question when Tab is pressed. All that the command knows of @bomb.sh/tab. */
import type { Complete, RootCommand } from "@bomb.sh/tab";
import { Argument, type Command, type Option } from "commander";
import { examples } from "../examples.ts";
import type { Terminal } from "../terminal.ts";

const SHELLS = ["bash", "zsh", "fish", "powershell"];

export function addCompletion(program: Command, { out }: Pick<Terminal, "out">): void {
  program
    .command("completion")
    .description("print what makes Tab complete this command in a shell: source it there")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .action(async (shell: string) => {
      const root = await completed(program);
      out(printed(() => root.setup(program.name(), program.name(), shell)));
    })
    .addHelpText("after", examples(["posthaste completion bash", "posthaste completion zsh"]));
  program
    .command("complete", { hidden: true })
    .description("what a shell's completion asks: the words so far, the last one being typed")
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const root = await completed(program);
      out(printed(() => root.parse([...words])));
    })
    .addHelpText("after", examples(["posthaste complete -- dead-letters re"]));
}

/** All commands with their options, as the library wants them; it is loaded here, so that no help waits for it. */
async function completed(program: Command): Promise<RootCommand> {
  const { RootCommand } = await import("@bomb.sh/tab");
  const root = new RootCommand();
  addOptions(root, program.options);
  const walk = (command: Command, path: readonly string[]): void => {
    for (const child of command.createHelp().visibleCommands(command)) {
      const words = [...path, child.name()];
      const known = root.command(words.join(" "), child.description());
      addOptions(known, [...child.options, ...program.options]);
      for (const { argChoices, variadic, name } of child.registeredArguments.map(argumentOf)) {
        known.argument(name, offer(argChoices), variadic);
      }
      walk(child, words);
    }
  };
  walk(program, []);
  return root;
}

function argumentOf(argument: Argument) {
  return { name: argument.name(), variadic: argument.variadic, argChoices: argument.argChoices ?? [] };
}

function addOptions(known: Pick<RootCommand, "option">, options: readonly Option[]): void {
  for (const { long, required, optional, argChoices, description } of options) {
    const name = long?.replace(/^--/, "");
    if (name === undefined) continue;
    // Without a handler an option takes no value.
    if (!required && !optional) known.option(name, description);
    else known.option(name, description, offer(argChoices ?? []));
  }
}

function offer(choices: readonly string[]): (complete: Complete) => void {
  return (complete) => {
    for (const choice of choices) complete(choice, "");
  };
}

/** The library prints by itself. */
function printed(print: () => void): string {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: string) => lines.push(line);
  try {
    print();
  } finally {
    console.log = log;
  }
  return `${lines.join("\n")}\n`;
}
