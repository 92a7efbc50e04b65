import type { Host } from "../host.ts";

/** What a verb gives back; cli.ts prints it and exits. */
export interface CommandResult {
  /** 0 ok, 1 invalid input, 2 usage, 3 a bug in gwc; 4 and 5 as the command says. */
  readonly exitCode: 0 | 1 | 2 | 3 | 4 | 5;
  /** The result itself. */
  readonly stdout?: string;
  /** Talk about it. */
  readonly stderr?: string;
}

/** What a verb may know of the world around it. Files and variables come through `host`. */
export interface CommandContext {
  readonly host: Host;
  /** Whether each stream takes colours. */
  readonly isColored: { readonly stdout: boolean; readonly stderr: boolean };
  /** Says what is being done; shown on a terminal when it takes long. */
  readonly progress: (step: string) => void;
  /** Says a line on stderr at once: for verbs that go on. */
  readonly print: (text: string) => void;
}

/** The work of a verb. */
export type CommandWork = (values: Arguments, context: CommandContext) => Promise<CommandResult>;

/** The command line of a verb, checked against its declaration. */
export interface Arguments {
  /** Words that belong to no option. */
  readonly positionals: readonly string[];
  /** Options that take a value, by long name. */
  readonly options: Readonly<Record<string, string>>;
  /** Options that take none and were given. */
  readonly flags: ReadonlySet<string>;
}

/** What a command takes and does; how it is called stands in the list of commands. */
export interface Command {
  readonly minPositionals: number;
  readonly maxPositionals: number;
  /** What `gwc VERB --help` says beyond the options: paragraphs. */
  readonly details: string;
  readonly options: readonly Option[];
  /** Command lines that show it in use. */
  readonly examples: readonly string[];
  readonly work: CommandWork;
}

/** An option of a verb. */
export interface Option {
  /** The long name. */
  readonly name: string;
  /** The short one, a letter. */
  readonly short?: string;
  /** What its value is called; absent: it takes none. */
  readonly value?: string;
  /** The only values it takes. */
  readonly choices?: readonly string[];
  readonly summary: string;
}
