import type { Command, Option } from "./command.ts";

const gateway: Option = {
  name: "gateway",
  value: "NS/NAME",
  summary: "the one Gateway that is meant, of manifests with several",
};
const strict: Option = { name: "strict", summary: "warnings are mistakes too" };

/** Every verb, in the order of the help. */
export const commands: readonly Command[] = [
  {
    name: "build",
    positionals: "[FILES..]",
    minPositionals: 0,
    maxPositionals: Number.POSITIVE_INFINITY,
    summary: "compile a gateway to readable TypeScript and one file that runs",
    details:
      "FILES are standalone files or Kubernetes manifests: files, folders, or - for standard input; without any,\n" +
      "gateway.yaml of this folder.\n" +
      "Writes main.ts, routes/*.ts, gateway.mjs (start it with `node gateway.mjs`), manifest.json and Dockerfile;\n" +
      "for a Gateway of manifests also kubernetes/, what runs it in a cluster.\n" +
      "Files of the last build that are no longer needed are removed; files that gwc did not write are never touched.",
    options: [
      {
        name: "out",
        short: "o",
        value: "DIR",
        summary: "where to write (default: out/NAME, the gateway's name)",
      },
      {
        name: "trace",
        value: "LEVEL",
        choices: ["path", "line", "none"],
        summary: "what comments say of the configuration (default: path)",
      },
      {
        name: "print",
        value: "WHAT",
        choices: ["program"],
        summary: "print the resolved program as JSON, write nothing",
      },
      { name: "check", summary: "write nothing; exit 1 when the output is not up to date" },
      gateway,
      {
        name: "image",
        value: "IMAGE",
        summary: "the image that kubernetes/ starts, instead of the bundle in a ConfigMap",
      },
      strict,
      { name: "no-type-check", summary: "trust the generated code: quicker" },
    ],
    examples: ["gwc build", "gwc build gateway.yaml -o dist --trace line", "gwc build --check"],
    load: async () => (await import("./build.ts")).build,
  },
  {
    name: "check",
    positionals: "[FILES..]",
    minPositionals: 0,
    maxPositionals: Number.POSITIVE_INFINITY,
    summary: "report every mistake, each with its place and what to do; write nothing",
    details:
      "The verdict is the one of `gwc build`: what check passes, build builds. Without FILES it is gateway.yaml of this\n" +
      "folder.\n" +
      "Under GITHUB_ACTIONS=true the format is github, unless another one is asked for.",
    options: [
      {
        name: "format",
        value: "FORMAT",
        choices: ["text", "json", "sarif", "github", "junit"],
        summary: "how mistakes are written (default: text)",
      },
      gateway,
      strict,
    ],
    examples: ["gwc check", "gwc check gateway.yaml --format sarif > gwc.sarif"],
    load: async () => (await import("./check.ts")).checkFiles,
  },
  {
    name: "run",
    positionals: "[FILE]",
    minPositionals: 0,
    maxPositionals: 1,
    summary: "compile and serve in one step; follow every change of the file",
    details:
      "A good change is served at once, without dropping a connection. After a bad one its mistakes are printed and\n" +
      "the last good gateway goes on. Without FILE it is gateway.yaml of this folder; `gwc -f FILE` is the same.",
    options: [
      {
        name: "file",
        short: "f",
        value: "FILE",
        summary: "the configuration (default: gateway.yaml)",
      },
      gateway,
      strict,
    ],
    examples: ["gwc run", "gwc run gateway.yaml"],
    load: async () => (await import("./run.ts")).run,
  },
  {
    name: "status",
    positionals: "FILES..",
    minPositionals: 1,
    maxPositionals: Number.POSITIVE_INFINITY,
    summary: "print the conditions that a controller would write for Kubernetes manifests",
    details:
      "Gateway classes, Gateways and their listeners, routes for each parent, backends, policies for each target, with\n" +
      "the Gateway API's reasons. A policy with mistakes is not Accepted, one that acts on nothing is not Attached.",
    options: [
      {
        name: "format",
        value: "FORMAT",
        choices: ["yaml", "json"],
        summary: "how it is written (default: yaml)",
      },
    ],
    examples: ["gwc status manifests/", "kubectl get gateways,httproutes -o yaml | gwc status -"],
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "schema",
    positionals: "",
    minPositionals: 0,
    maxPositionals: 0,
    summary: "print the JSON schema of the configuration, for editors",
    details:
      "Editors with the YAML language server use it through a first line in the configuration:\n" +
      "  # yaml-language-server: $schema=gateway.schema.json",
    options: [
      { name: "kind", value: "KIND", summary: "the schema of a kind of Kubernetes manifest" },
      { name: "crd", summary: "the custom resource definitions of gwc's kinds, as YAML" },
    ],
    examples: ["gwc schema > gateway.schema.json", "gwc schema --crd | kubectl apply -f -"],
    load: async () => (await import("./schema.ts")).schema,
  },
  {
    name: "explain",
    positionals: "[WHAT..]",
    minPositionals: 0,
    maxPositionals: 3,
    summary: "explain a diagnostic, a policy, a route, a request, a generated line",
    details:
      "The code of a diagnostic stands in brackets in its message: error[unknown-field].\n" +
      "`route NAMESPACE/NAME [RULE]` and `GET https://host/path` print what holds for that traffic: each policy field, its\n" +
      "value, where it comes from and what it overrides. A line of generated code is traced back to the configuration.",
    options: [
      {
        name: "file",
        short: "f",
        value: "PATH",
        summary: "the configuration: a file or a folder (default: this folder)",
      },
      {
        name: "format",
        value: "FORMAT",
        choices: ["text", "json"],
        summary: "how a route, a request or a line is explained (default: text)",
      },
    ],
    examples: [
      "gwc explain unknown-field",
      "gwc explain cors",
      "gwc explain cel",
      "gwc explain route default/tools -f manifests/",
      "gwc explain GET https://example.com/mcp -f manifests/",
      "gwc explain out/gateway/routes/tools.ts:30 -f gateway.yaml",
    ],
    load: async () => (await import("./explain.ts")).explain,
  },
  {
    name: "eval",
    positionals: "EXPRESSION",
    minPositionals: 1,
    maxPositionals: 1,
    summary: "evaluate an expression of a rule on data of your own",
    details:
      "The expression is compiled as in a gateway, and what it becomes is run. DATA has the variables as expressions\n" +
      "name them, as a JSON file or as JSON itself; what it leaves out is absent.",
    options: [
      {
        name: "data",
        short: "d",
        value: "DATA",
        summary: "the variables (default: a request GET /)",
      },
      {
        name: "phase",
        value: "PHASE",
        choices: ["request", "mcp", "llm", "response", "log"],
        summary: "where the expression would stand (default: request)",
      },
      { name: "emit", summary: "show the TypeScript that it becomes as well" },
      {
        name: "format",
        value: "FORMAT",
        choices: ["text", "json"],
        summary: "how the value is written (default: text)",
      },
    ],
    examples: [
      `gwc eval 'jwt.sub == "ada"' -d '{"jwt": {"sub": "ada"}}'`,
      `gwc eval 'request.path.startsWith("/api")' -d request.json --emit`,
    ],
    load: async () => (await import("./eval.ts")).evaluate,
  },
  {
    name: "init",
    positionals: "[FILE]",
    minPositionals: 0,
    maxPositionals: 1,
    summary: "write a small commented configuration that works at once",
    details:
      "FILE is gateway.yaml by default; an existing file is left alone. Its first line names the schema for editors in the\n" +
      "installed package.",
    options: [{ name: "schema", summary: "write the schema beside it instead" }],
    examples: ["gwc init && gwc run"],
    load: async () => (await import("./init.ts")).init,
  },
  {
    name: "version",
    positionals: "",
    minPositionals: 0,
    maxPositionals: 0,
    summary: "print the version",
    details: "`gwc --version` is the same.",
    options: [
      {
        name: "format",
        value: "FORMAT",
        choices: ["text", "json"],
        summary: "how it is written (default: text)",
      },
    ],
    examples: ["gwc version --format json"],
    load: async () => (await import("./version.ts")).showVersion,
  },
];

/** The option of every verb. */
export const help: Option = { name: "help", short: "h", summary: "this text, or a verb's" };
