import { message } from "./message.ts";

/** Location of a tool lock, and the reason why it cannot be used. */
interface ToolLockProblem {
  readonly file: string;
  /** ConfigMap that contains it; `undefined` if it is a file. */
  readonly configMap: { readonly namespace: string; readonly name: string } | undefined;
  readonly problem: string;
}

/** Diagnostics about files that a configuration names: certificates, keys, documents. */
export const fileMessages = {
  "file-not-here": message<{ file: string; problem: string }>({
    severity: "warning",
    text: ({ file, problem }) =>
      `"${file}" will be read when the gateway starts, but here ${problem}`,
    explanation:
      "Certificates and keys are read where the gateway runs, relative to GWC_CONFIG_DIR or its working directory. " +
      "This is only a warning because the machine that compiles may not have them.",
  }),
  "unusable-pem": message<{ file: string; problem: string; hint: string }>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" ${problem}`,
    hint: ({ hint }) => hint,
    explanation:
      "Certificates, private keys and certificate authorities are PEM files, with lines such as `-----BEGIN " +
      "CERTIFICATE-----`. A file that exists is checked at build time, because a gateway with an unusable one does not " +
      "start.",
  }),
  "other-key": message<{ cert: string; key: string }>({
    severity: "error",
    text: ({ cert, key }) => `"${key}" is not the private key of the certificate in "${cert}"`,
    hint: () => "give the two files of one pair; in a chain the server certificate comes first",
    explanation:
      "The gateway presents the first certificate in the file, and only the key that it was issued for can prove it.",
  }),
  "certificate-out-of-date": message<{ file: string; what: string }>({
    severity: "warning",
    text: ({ file, what }) => `the certificate in "${file}" ${what}`,
    hint: () => "renew it; the gateway reloads a changed file without a restart",
    explanation:
      "Clients that check the certificate refuse the connection. The build output does not depend on the date.",
  }),
  "certificate-expires": message<{ file: string; time: string }>({
    severity: "note",
    text: ({ file, time }) => `the certificate in "${file}" expires soon, on ${time}`,
    explanation:
      "A reminder, reported from two weeks before the certificate expires. It is a note, so that a build with " +
      "`--strict` does not start to fail from one day to the next.",
  }),
  "path-elsewhere": message<{ file: string; found: string }>({
    severity: "note",
    text: ({ file }) =>
      `"${file}" is not next to this file; the one in the working directory is used`,
    hint: () =>
      "write the path relative to this file, so that it works from every working directory",
    explanation:
      "Relative paths start at the file that contains them. A file that exists only in the working directory is used " +
      "from there, as agentgateway does.",
  }),
  "bad-key-set": message<{ problem: string; advice?: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `this key set cannot be used: ${problem}`,
    hint: ({ advice }) =>
      advice ?? "a key set may contain only public keys: RSA, EC or OKP (RFC 7517)",
    explanation:
      "Tokens are verified with public keys. A symmetric or private key in a key set could sign tokens, and would be " +
      "published with the bundle.",
  }),
  "empty-key-set": message<Record<never, never>>({
    severity: "warning",
    text: () => "this key set has no keys: every token is refused",
    hint: () => "add the issuer's public keys, or write { url: URL }",
    explanation: "Tokens are verified with the keys of the set, so none is valid without keys.",
  }),
  "no-model-catalog": message<{ file: string; problem: string }>({
    severity: "warning",
    text: ({ file, problem }) => `the model catalog "${file}" cannot be read: ${problem}`,
    hint: () =>
      "put the file where the gateway is built; until then, prices of its models are unknown",
    explanation:
      "Catalogs are read when the gateway is built. Without the file, `llm.cost` is absent for models that no other catalog " +
      "has. agentgateway starts without the file, too.",
  }),
  "bad-model-catalog": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => `this model catalog cannot be used: ${problem}`,
    hint: () =>
      "write providers: { NAME: { models: { MODEL: { rates: { input: 3, output: 15 } } } } }",
    explanation:
      "A model catalog has prices by provider and model, in US dollars for a million tokens. A file is JSON or YAML.",
  }),
  "bad-openapi": message<{ problem: string; advice?: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `the OpenAPI document cannot be used: it ${problem}`,
    hint: ({ advice }) =>
      advice ?? "give an OpenAPI 3.0 or 3.1 document in JSON or YAML with operations under `paths`",
    explanation:
      "An `openapi` target offers the operations of a document as tools. The document is read at build time and " +
      "becomes part of the bundle, so that reviews show what is offered. A Swagger 2.0 document can be converted, for " +
      "example with swagger2openapi.",
  }),
  "no-openapi-document": message<{ url: string; file: string }>({
    severity: "error",
    text: ({ url }) => `the OpenAPI document ${url} has not been fetched`,
    hint: ({ file }) => `run \`gwc lock\`, which writes it to ${file}`,
    explanation:
      "Builds do not read from the network, so that the same files always make the same gateway. `gwc lock` fetches the " +
      "document once, and again with `--update`. Commit the file: its changes are changes of tools.",
  }),
  "no-tool-lock": message<ToolLockProblem>({
    severity: "error",
    text: ({ file, problem }) => `the tool lock "${file}" cannot be read: ${problem}`,
    hint: () => "run `gwc lock` to create it from what the servers offer",
    explanation:
      "With `toolLock`, clients see and use only the tools, prompts and resources in the lock, and only while their " +
      "definitions match it. Without the file, everything would be hidden.",
  }),
  "bad-tool-lock": message<ToolLockProblem>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" cannot be used: it ${problem}`,
    hint: () => "run `gwc lock --update` to rewrite it, and review the changes that it reports",
    explanation:
      "`gwc lock` writes the lock. Merge it by hand only if two branches changed different items.",
  }),
  "unlocked-target": message<{
    file: string;
    name: string;
    server: string;
    other: string | undefined;
  }>({
    severity: "warning",
    text: ({ file, name, server, other }) =>
      other === undefined
        ? `"${file}" has no server "${name}": all its items are hidden`
        : `"${name}" is "${other}" in "${file}" but "${server}" here: all its items are hidden`,
    hint: () => "run `gwc lock --update` to approve what it offers now",
    explanation:
      "A lock names each server with its address or command: approval of one server does not extend to another server " +
      "with the same name.",
  }),
  "gone-lock-target": message<{ file: string; name: string; server: string }>({
    severity: "warning",
    text: ({ file, name, server }) =>
      `"${file}" has items of "${name}" (${server}), which is not a server in this configuration`,
    hint: () => "run `gwc lock --update` to remove it",
    explanation:
      "Items in the lock of a removed server would be approved at once if somebody adds a server with this name and " +
      "address again.",
  }),
  "operation-left-out": message<{ operation: string; why: string }>({
    severity: "warning",
    text: ({ operation, why }) => `${operation} is not offered as a tool: ${why}`,
    explanation:
      "A tool has the arguments `path`, `query`, `header`, `cookie` and `body`: an operation's parameters and its body. " +
      "An operation that needs something else cannot be called this way; the other operations of the document are " +
      "still tools.",
  }),
};
