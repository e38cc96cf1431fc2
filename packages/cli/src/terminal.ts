/** Bytes that are written one after the other. */
export interface Output {
  /** Resolves when more can be taken. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** All of it is there. */
  readonly end: () => Promise<void>;
}

/** The command's view of the process that it runs in; tests have one of their own. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Standard error is a terminal. */
  readonly isTalkTerminal: boolean;
  /** Width of that terminal in characters. */
  readonly columns: number;
  /** Ms since the epoch. */
  readonly nowMs: () => number;
  /** There is somebody to ask: standard input and standard error are terminals. */
  readonly canAsk: boolean;
  /** Data, on standard output. */
  readonly out: (text: string) => void;
  /** Talk, on standard error. */
  readonly err: (text: string) => void;
  /** The text of a file; `-` is standard input. Rejects with the system's error. */
  readonly readFile: (path: string) => Promise<string>;
  /** The bytes of a file as they are read; `-` is standard input. Rejects with the system's error. */
  readonly openFile: (path: string) => Promise<AsyncIterable<Uint8Array>>;
  /** Where bytes go: a file that has its name when it is whole, or standard output for `-`. Rejects with CliError. */
  readonly openOutput: (path: string) => Promise<Output>;
  /** Calls this when Ctrl-C ends the command, until the answer is called. */
  readonly onInterrupt: (say: () => void) => () => void;
  /** Shows a URL in a browser where there is one. */
  readonly openUrl: (url: string) => Promise<void>;
  /** Writes a file that nobody else may read, whole or not at all. Rejects with the system's error. */
  readonly writePrivate: (path: string, text: string) => Promise<void>;
  /** As `ask`, but shows nothing of the answer. */
  readonly askSecret: (question: string) => Promise<string>;
  /** Puts a question on standard error and resolves with the line that is typed. */
  readonly ask: (question: string) => Promise<string>;
}
