import type { CommandEntry } from "./command.ts";

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: "build",
    positionals: "[FILES..]",
    summary: "compile a gateway to readable TypeScript and one runnable file",
    load: async () => (await import("./build.ts")).build,
  },
  {
    name: "check",
    positionals: "[FILES..]",
    summary: "report every mistake with its location and a fix",
    load: async () => (await import("./check.ts")).check,
  },
  {
    name: "run",
    positionals: "[FILE]",
    summary: "compile and serve; reload when the file changes",
    load: async () => (await import("./run.ts")).run,
  },
  {
    name: "status",
    positionals: "FILES..",
    summary: "print the status conditions of Kubernetes manifests",
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "controller",
    positionals: "",
    summary: "serve the Gateways of a Kubernetes cluster",
    load: async () => (await import("./controller.ts")).controller,
  },
  {
    name: "agent",
    positionals: "",
    summary: "serve the code of a controller, in the pods of a Gateway",
    load: async () => (await import("./agent.ts")).agent,
  },
  {
    name: "schema",
    positionals: "",
    summary: "print the JSON schema of the configuration",
    load: async () => (await import("./schema.ts")).schema,
  },
  {
    name: "explain",
    positionals: "[WHAT..]",
    summary: "explain a diagnostic, policy, field, route, request or line of code",
    load: async () => (await import("./explain.ts")).explain,
  },
  {
    name: "eval",
    positionals: "EXPRESSION",
    summary: "evaluate a CEL expression on your own data",
    load: async () => (await import("./eval.ts")).evalCommand,
  },
  {
    name: "diff",
    positionals: "[OLD NEW]",
    summary: "show which access a change opens or closes, with example requests",
    load: async () => (await import("./diff.ts")).diff,
  },
  {
    name: "can",
    positionals: "WHAT..",
    summary: "decide whether a request or MCP call gets through, and why",
    load: async () => (await import("./can.ts")).can,
  },
  {
    name: "test",
    positionals: "[FILES..]",
    summary: "run the *.test.yaml files next to a configuration",
    load: async () => (await import("./test.ts")).testCommand,
  },
  {
    name: "audit",
    positionals: "[FILES..]",
    summary: "report what is open, weak or without effect",
    load: async () => (await import("./audit.ts")).audit,
  },
  {
    name: "lock",
    positionals: "[FILES..]",
    summary: "record the tools of MCP servers and report what changed",
    load: async () => (await import("./lock.ts")).lock,
  },
  {
    name: "graph",
    positionals: "[FILE]",
    summary: "draw a gateway, or what a change adds and removes",
    load: async () => (await import("./graph.ts")).graph,
  },
  {
    name: "verify",
    positionals: "OUT [FILE]",
    summary: "verify that a bundle is byte for byte what a configuration builds",
    load: async () => (await import("./verify.ts")).verify,
  },
  {
    name: "doctor",
    positionals: "[FILES..]",
    summary: "check ports, files, certificates, servers and clock of this machine",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "import",
    positionals: "FILES..",
    summary: "convert a configuration of nginx, Caddy, Traefik, Kong, LiteLLM, ...",
    printsFiles: true,
    load: async () => (await import("./import.ts")).importCommand,
  },
  {
    name: "init",
    positionals: "[FILE]",
    summary: "write a small commented configuration that works",
    load: async () => (await import("./init.ts")).init,
  },
  {
    name: "completion",
    positionals: "SHELL",
    summary: "print a script that completes commands in bash, zsh or fish",
    printsFiles: true,
    load: async () => (await import("./completion.ts")).completionOf(commands),
  },
  {
    name: "version",
    positionals: "",
    summary: "print the version",
    load: async () => (await import("./version.ts")).versionCommand,
  },
];
