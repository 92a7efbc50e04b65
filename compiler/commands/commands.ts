import type { Command } from "./command.ts";

/** A command by its name: the rest is loaded when it is called, so that one does not wait for what another needs. */
export interface CommandEntry {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  { name: "build", load: async () => (await import("./build.ts")).build },
  { name: "check", load: async () => (await import("./check.ts")).check },
  { name: "run", load: async () => (await import("./run.ts")).run },
  { name: "status", load: async () => (await import("./status.ts")).status },
  { name: "schema", load: async () => (await import("./schema.ts")).schema },
  { name: "explain", load: async () => (await import("./explain.ts")).explain },
  { name: "eval", load: async () => (await import("./eval.ts")).evalCommand },
  { name: "init", load: async () => (await import("./init.ts")).init },
  { name: "version", load: async () => (await import("./version.ts")).versionCommand },
];
