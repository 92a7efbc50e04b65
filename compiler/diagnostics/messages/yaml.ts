import { message } from "./message.ts";

/** Diagnostics about files that cannot be read as YAML. */
export const yamlMessages = {
  "file-not-found": message<{ file: string; problem: string }>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" cannot be read: ${problem}`,
    explanation:
      "The file does not exist, is a folder, or is not readable. Paths in a configuration are relative to the file " +
      "that contains them.",
  }),
  "not-utf8": message<Record<never, never>>({
    severity: "error",
    text: () => "this file is not valid UTF-8",
    hint: () => "save it as UTF-8, for example with `iconv -f LATIN1 -t UTF-8 FILE`",
    explanation:
      "Configuration files are encoded in UTF-8, or in UTF-16 with a byte order mark. Other bytes could mean different " +
      "letters, so gwc does not guess. The marker shows the first invalid byte.",
  }),
  "yaml-syntax": message<{ problem: string; advice: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `this is not valid YAML: ${problem}`,
    hint: ({ advice }) => advice,
    explanation: "The file is not well-formed YAML 1.2. The marked place is where reading stopped.",
  }),
  "unrendered-template": message<Record<never, never>>({
    severity: "error",
    text: () => "this looks like an unrendered template: YAML reads its braces as mappings",
    hint: () => "render it first: `helm template … | gwc check -`",
    explanation:
      "`{{ … }}` is template syntax (Helm, Jinja). gwc reads the YAML that a template produces. For values that differ " +
      "between environments, use `${NAME}` or `${NAME:-fallback}` inside a value.",
  }),
  "other-tool": message<{ what: string; advice: string | undefined }>({
    severity: "error",
    text: ({ what }) => `this looks like ${what}, which gwc does not read`,
    hint: ({ advice }) => advice ?? "`gwc init` writes a small file that works",
    explanation:
      "gwc reads standalone files (a mapping with `binds`, `llm` or `mcp`) and Kubernetes manifests (Gateway API and " +
      "gwc's own kinds). `gwc import` converts the files of some other gateways to a standalone file that you can " +
      "review and edit (`gwc explain import`).",
  }),
  "duplicate-key": message<{ keys: readonly string[] }>({
    severity: "error",
    text: ({ keys }) =>
      `${keys.map((key) => `"${key}"`).join(", ")} ${keys.length === 1 ? "is" : "are"} given twice in the same mapping`,
    hint: ({ keys }) =>
      keys.length === 1
        ? "remove one of them"
        : "start a new item with `- `, or a new document with a line `---`",
    explanation:
      "Keys of a YAML mapping are unique. A parser that uses the last one would silently drop the first, so gwc " +
      "refuses both.",
  }),
  "alias-bomb": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) => `aliases in this document expand to more than ${limit} nodes`,
    hint: () => "write the repeated parts out, or generate the file",
    explanation:
      "Nested YAML aliases can make a small file expand to billions of nodes. gwc counts the nodes before it expands " +
      "them.",
  }),
  "empty-file": message<{ file: string }>({
    severity: "error",
    text: ({ file }) => `"${file}" contains no configuration`,
    hint: () => "`gwc init` writes a small file that works",
    explanation: "The file is empty or contains only comments.",
  }),
  "no-input": message<{ folders: readonly string[] }>({
    severity: "error",
    text: ({ folders }) =>
      `there is no configuration in ${folders.map((each) => `"${each}"`).join(", ")}`,
    hint: () => "`gwc init` writes a small file that works",
    explanation:
      "In a folder, gwc reads the YAML and JSON files, including those in subfolders. It skips its own output, JSON " +
      "schemas, `node_modules` and folders whose names begin with a dot.",
  }),
  "several-documents": message<Record<never, never>>({
    severity: "error",
    text: () => "a standalone file has one YAML document, but a second one starts here",
    hint: () => "remove the `---`, or move the second gateway to its own file",
    explanation:
      "A standalone file describes one gateway. Only Kubernetes manifests can have several documents in a file.",
  }),
  "several-files": message<{ file: string }>({
    severity: "error",
    text: ({ file }) =>
      `only one standalone file can be compiled at a time, and "${file}" is a second one`,
    hint: () => "compile each with its own `gwc build`, or put the routes into one file",
    explanation:
      "A standalone file describes one gateway, so two files are two gateways. Only Kubernetes manifests are read " +
      "together, from any number of files.",
  }),
};
