import { message } from "./message.ts";

/** Files that cannot be read as YAML. */
export const yamlMessages = {
  "file-not-found": message<{ file: string; problem: string }>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" cannot be read: ${problem}`,
    explanation:
      "The file does not exist, is a folder, or may not be read. Paths inside a configuration are relative to the " +
      "file that names them.",
  }),
  "not-utf8": message<Record<never, never>>({
    severity: "error",
    text: () => "this is no text in UTF-8",
    hint: () => "save the file as UTF-8; `iconv -f LATIN1 -t UTF-8 FILE` does it for an older one",
    explanation:
      "Configuration is text in UTF-8, or in UTF-16 with a byte order mark. Of bytes that are neither, nobody knows which " +
      "letters were meant, so nothing is built of them. The mark shows the first.",
  }),
  "yaml-syntax": message<{ problem: string; advice: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `this is not valid YAML: ${problem}`,
    hint: ({ advice }) => advice,
    explanation: "The file is not well-formed YAML 1.2. The marked place is where reading stopped.",
  }),
  "unrendered-template": message<Record<never, never>>({
    severity: "error",
    text: () =>
      "this looks like a template that was not rendered: YAML reads its braces as mappings",
    hint: () => "give gwc the result: `helm template … | gwc check -`",
    explanation:
      "`{{ … }}` belongs to Helm, Jinja and their like, which make YAML of it. gwc reads the YAML; for values that differ " +
      "by place it has `${NAME}` and `${NAME:-fallback}` inside values.",
  }),
  "other-tool": message<{ what: string; advice: string | undefined }>({
    severity: "error",
    text: ({ what }) => `this looks like ${what}, and is no file that gwc reads`,
    hint: ({ advice }) => advice ?? "`gwc init` writes a small file that works",
    explanation:
      "gwc reads its own files (a mapping with `binds` or `llm`) and Kubernetes manifests (Gateway API and its own kinds). " +
      "What other gateways are configured with has other words for the same things: `gwc import` makes a file of gwc's of what some of them have " +
      "(`gwc explain import`), which is then yours to read and change.",
  }),
  "duplicate-key": message<{ keys: readonly string[] }>({
    severity: "error",
    text: ({ keys }) =>
      `${keys.map((key) => `"${key}"`).join(", ")} ${keys.length === 1 ? "is" : "are"} given twice in the same mapping`,
    hint: ({ keys }) =>
      keys.length === 1
        ? "remove one of them"
        : "is this a new item, which begins with `- `, or a new document, after a line `---`?",
    explanation:
      "YAML mappings have unique keys. A parser that keeps the last one would hide the first, so gwc refuses both.",
  }),
  "alias-bomb": message<{ limit: number }>({
    severity: "error",
    text: ({ limit }) => `aliases in this document expand to more than ${limit} nodes`,
    hint: () => "write the repeated parts out, or generate the file",
    explanation:
      "Nested YAML aliases can make a small file expand to billions of nodes. gwc counts before it expands.",
  }),
  "empty-file": message<{ file: string }>({
    severity: "error",
    text: ({ file }) => `"${file}" holds no configuration`,
    hint: () => "`gwc init` writes a small file that works",
    explanation: "The file is empty or holds only comments.",
  }),
  "no-input": message<{ folders: readonly string[] }>({
    severity: "error",
    text: ({ folders }) =>
      `there is no configuration in ${folders.map((each) => `"${each}"`).join(", ")}`,
    hint: () => "`gwc init` writes a small file that works",
    explanation:
      "Of a folder gwc reads the YAML and JSON files, also those of folders in it, without what it wrote itself, schemas, " +
      "`node_modules` and folders whose names begin with a dot.",
  }),
  "several-documents": message<Record<never, never>>({
    severity: "error",
    text: () => "a standalone file is one YAML document, and here a second one starts",
    hint: () => "remove the `---`, or put the second gateway into a file of its own",
    explanation:
      "A standalone file describes one gateway. Only Kubernetes manifests come as several documents in a file.",
  }),
  "several-files": message<{ file: string }>({
    severity: "error",
    text: ({ file }) => `a standalone file is a whole gateway, and "${file}" is another one`,
    hint: () => "compile each with its own `gwc build`, or put the routes into one file",
    explanation:
      "A standalone file describes one gateway: two of them would be two gateways. Only Kubernetes manifests are read " +
      "together, from any number of files.",
  }),
};
