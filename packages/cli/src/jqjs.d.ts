/** The part of the library that `--jq` uses; the package has no types of its own. */
declare module "@michaelhomer/jqjs" {
  /** Throws for a text that is no jq program; what it returns throws where the input does not fit. */
  export function compile(program: string): (input: unknown) => Iterable<unknown>;
}
