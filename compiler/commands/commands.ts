import type { Command } from "./command.ts";

/** A row of the list of commands. The rest is loaded when it is called: none waits for what another one needs. */
export interface CommandEntry {
  readonly name: string;
  /** What stands after the name: `FILES..`. */
  readonly positionals: string;
  /** One line, for the help. */
  readonly summary: string;
  /** What it prints on stdout is a file for another program: nothing in it is escaped. */
  readonly printsFiles?: true;
  readonly load: () => Promise<Command>;
}

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: "build",
    positionals: "[FILES..]",
    summary: "compile a gateway to readable TypeScript and one file that runs",
    load: async () => (await import("./build.ts")).build,
  },
  {
    name: "check",
    positionals: "[FILES..]",
    summary: "report every mistake, each with its place and what to do; write nothing",
    load: async () => (await import("./check.ts")).check,
  },
  {
    name: "run",
    positionals: "[FILE]",
    summary: "compile and serve in one step; follow every change of the file",
    load: async () => (await import("./run.ts")).run,
  },
  {
    name: "status",
    positionals: "FILES..",
    summary: "print the conditions that a controller would write for Kubernetes manifests",
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "controller",
    positionals: "",
    summary: "compile the Gateways of a Kubernetes API server as they change; write statuses",
    load: async () => (await import("./controller.ts")).controller,
  },
  {
    name: "agent",
    positionals: "",
    summary: "serve what a controller sends: what the pods of a Gateway run",
    load: async () => (await import("./agent.ts")).agent,
  },
  {
    name: "schema",
    positionals: "",
    summary: "print the JSON schema of the configuration, for editors",
    load: async () => (await import("./schema.ts")).schema,
  },
  {
    name: "explain",
    positionals: "[WHAT..]",
    summary: "explain a diagnostic, policy, backend, field, route, request or generated line",
    load: async () => (await import("./explain.ts")).explain,
  },
  {
    name: "eval",
    positionals: "EXPRESSION",
    summary: "evaluate an expression of a rule on data of your own",
    load: async () => (await import("./eval.ts")).evalCommand,
  },
  {
    name: "diff",
    positionals: "[OLD NEW]",
    summary: "say what a change opens, closes and changes, each with a request that shows it",
    load: async () => (await import("./diff.ts")).diff,
  },
  {
    name: "can",
    positionals: "WHAT..",
    summary: "say whether a request or an MCP call gets through, by which rule, and who may",
    load: async () => (await import("./can.ts")).can,
  },
  {
    name: "test",
    positionals: "[FILES..]",
    summary: "run the tests beside a configuration: requests, and what must come out",
    load: async () => (await import("./test.ts")).testCommand,
  },
  {
    name: "audit",
    positionals: "[FILES..]",
    summary: "say what is open, weak or does nothing, beyond mistakes",
    load: async () => (await import("./audit.ts")).audit,
  },
  {
    name: "lock",
    positionals: "[FILES..]",
    summary: "record the tools that MCP servers offer, and say what has become of them",
    load: async () => (await import("./lock.ts")).lock,
  },
  {
    name: "graph",
    positionals: "[FILE]",
    summary: "draw a gateway, or what a change adds to it and removes",
    load: async () => (await import("./graph.ts")).graph,
  },
  {
    name: "verify",
    positionals: "OUT [FILE]",
    summary: "say whether a bundle is, byte for byte, what a configuration builds",
    load: async () => (await import("./verify.ts")).verify,
  },
  {
    name: "import",
    positionals: "FILES..",
    summary: "make a configuration of another gateway's: nginx, Caddy, LiteLLM and others",
    printsFiles: true,
    load: async () => (await import("./import.ts")).importCommand,
  },
  {
    name: "init",
    positionals: "[FILE]",
    summary: "write a small commented configuration that works at once",
    load: async () => (await import("./init.ts")).init,
  },
  {
    name: "version",
    positionals: "",
    summary: "print the version",
    load: async () => (await import("./version.ts")).versionCommand,
  },
];
