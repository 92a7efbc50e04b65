import type { Host } from "../host.ts";

/** Result of a command; cli.ts prints it and exits. */
export interface CommandResult {
  /** 0 ok, 1 invalid input, 2 usage error, 3 bug in gwc; 4 and 5 are specific to the command. */
  readonly exitCode: 0 | 1 | 2 | 3 | 4 | 5;
  /** The result. */
  readonly stdout?: string;
  /** Diagnostics, hints and notes. */
  readonly stderr?: string;
}

/** Environment of a command. Files and variables come through `host`. */
export interface CommandContext {
  readonly host: Host;
  /** Whether each stream takes ANSI colors. */
  readonly isColored: { readonly stdout: boolean; readonly stderr: boolean };
  /** Whether each stream is a terminal, so that long lines of prose are broken. */
  readonly isTerminal: { readonly stdout: boolean; readonly stderr: boolean };
  /** Width of the terminal in columns, for prose. */
  readonly columns: number;
  /** Shows the current step on a terminal. */
  readonly progress: (step: string) => void;
  /** Writes to stderr immediately, for commands that keep running. */
  readonly print: (text: string) => void;
}

/** Runs a command. */
export type CommandWork = (values: Arguments, context: CommandContext) => Promise<CommandResult>;

/** Parsed arguments of a command, validated against its declaration. */
export interface Arguments {
  /** Arguments that are not options. */
  readonly positionals: readonly string[];
  /** Options that take a value, by long name. */
  readonly options: Readonly<Record<string, string>>;
  /** Names of the given options that take no value. */
  readonly flags: ReadonlySet<string>;
}

/** Arguments and behavior of a command; its name and summary are in the list of commands. */
export interface Command {
  readonly minPositionals: number;
  readonly maxPositionals: number;
  /** Paragraphs for `gwc COMMAND --help`, one per line; lines that begin with a space are not wrapped. */
  readonly details: string;
  readonly options: readonly Option[];
  /** Example command lines. */
  readonly examples: readonly string[];
  readonly work: CommandWork;
}

/** An entry of the list of commands. Each command's module is loaded on demand, so no command pays for another's imports. */
export interface CommandEntry {
  readonly name: string;
  /** Arguments after the name, for the usage line: `FILES..`. */
  readonly positionals: string;
  /** One line for `gwc --help`. */
  readonly summary: string;
  /** Set if stdout is a file for another program, in which control characters are not escaped. */
  readonly printsFiles?: true;
  /** Set if stdout as text is prose, whose long lines are broken on a terminal. */
  readonly isProse?: true;
  readonly load: () => Promise<Command>;
}

/** An option of a command. */
export interface Option {
  /** Long name without dashes. */
  readonly name: string;
  /** Short name: one letter. */
  readonly short?: string;
  /** Placeholder for its value in help; absent if it takes no value. */
  readonly value?: string;
  /** Accepted values; absent if any value is accepted. */
  readonly choices?: readonly string[];
  /** Set if each of its values is an argument, as if it were given without the option. */
  readonly isArgument?: true;
  readonly summary: string;
}
