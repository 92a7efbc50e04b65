import { message } from "./message.ts";

/** Why a lock can't be used, and where it is. */
interface ToolLockProblem {
  readonly file: string;
  /** The ConfigMap that it is an entry of; undefined: it is a file. */
  readonly configMap: { readonly namespace: string; readonly name: string } | undefined;
  readonly problem: string;
}

/** What a configuration names and is read from files: certificates, keys, documents. */
export const fileMessages = {
  "file-not-here": message<{ file: string; problem: string }>({
    severity: "warning",
    text: ({ file, problem }) =>
      `"${file}" will be read when the gateway starts, but here ${problem}`,
    explanation:
      "Certificates and keys are read where the gateway runs, relative to GWC_CONFIG_DIR or its working directory. This " +
      "is no error: the machine that compiles need not have them.",
  }),
  "unusable-pem": message<{ file: string; problem: string; hint: string }>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" ${problem}`,
    hint: ({ hint }) => hint,
    explanation:
      "Certificates, private keys and authorities are PEM files: text between lines such as `-----BEGIN CERTIFICATE-----`. " +
      "A file that is here is read at once, because a gateway with one that it can't use does not start.",
  }),
  "other-key": message<{ cert: string; key: string }>({
    severity: "error",
    text: ({ cert, key }) => `"${key}" is not the private key of the certificate in "${cert}"`,
    hint: () => "name files of one pair; in a chain the server's own certificate comes first",
    explanation:
      "The first certificate of the file is the one that is shown, and only the key that it was made for can prove it.",
  }),
  "certificate-out-of-date": message<{ file: string; what: string }>({
    severity: "warning",
    text: ({ file, what }) => `the certificate in "${file}" ${what}`,
    hint: () => "renew it; the gateway takes a changed file without a restart",
    explanation:
      "Whoever checks the certificate refuses the connection. What is built does not depend on the date: only this is said.",
  }),
  "certificate-expires": message<{ file: string; time: string }>({
    severity: "note",
    text: ({ file, time }) => `the certificate in "${file}" expires soon, on ${time}`,
    explanation:
      "Told from two weeks before the end, as a reminder. It is a note, so that no build fails with `--strict` because a day has passed.",
  }),
  "path-elsewhere": message<{ file: string; beside: string }>({
    severity: "note",
    text: ({ file }) =>
      `"${file}" is not beside this file; the one in the working directory is taken`,
    hint: () => "write the path relative to this file, and it is found from everywhere",
    explanation:
      "Relative paths start at the file that names them. What is not there but below the working directory is taken from " +
      "there, as the reference does.",
  }),
  "bad-key-set": message<{ problem: string; advice?: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `this is no usable key set: ${problem}`,
    hint: ({ advice }) => advice ?? "a key set holds public keys only: RSA, EC or OKP (RFC 7517)",
    explanation:
      "Tokens are verified with public keys. A symmetric or private key in a key set could sign tokens, and would be " +
      "published with the bundle.",
  }),
  "bad-openapi": message<{ problem: string; advice?: string | undefined }>({
    severity: "error",
    text: ({ problem }) => `the OpenAPI document can't be used: it ${problem}`,
    hint: ({ advice }) =>
      advice ??
      "name a document of OpenAPI 3.0 or 3.1, in JSON or YAML, with operations below `paths`",
    explanation:
      "An `openapi` target offers the operations of a document as tools. The document is read at build, and becomes part of the bundle: what it offers is seen in review. One of Swagger 2.0 can be converted, by swagger2openapi for example.",
  }),
  "no-tool-lock": message<ToolLockProblem>({
    severity: "error",
    text: ({ file, problem }) => `the lock of tools "${file}" can't be read: ${problem}`,
    hint: () => "`gwc lock` asks the servers for what they offer and writes it",
    explanation:
      "With `toolLock` clients are shown, and can use, only tools, prompts and resources that are in the lock and say what they said when they were locked. Without the file there would be none.",
  }),
  "bad-tool-lock": message<ToolLockProblem>({
    severity: "error",
    text: ({ file, problem }) => `"${file}" can't be used: it ${problem}`,
    hint: () => "`gwc lock --update` writes it anew; read what it says has changed",
    explanation:
      "A lock is written by `gwc lock`, and merged by hand only where two branches have changed different items.",
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
        ? `"${file}" has no server "${name}": all that it offers is withheld`
        : `"${file}" has "${name}" as "${other}", and here it is "${server}": all that it offers is withheld`,
    hint: () => "`gwc lock --update` approves what it offers now",
    explanation:
      "A lock names each server with its address or command: what was approved of one server says nothing about another one in its place.",
  }),
  "gone-lock-target": message<{ file: string; name: string; server: string }>({
    severity: "warning",
    text: ({ file, name, server }) =>
      `"${file}" has items of "${name}" (${server}), which is no server of this configuration`,
    hint: () => "`gwc lock --update` takes it out",
    explanation:
      "What is approved of a server that is gone would be approved at once when somebody names it again.",
  }),
  "operation-left-out": message<{ operation: string; why: string }>({
    severity: "warning",
    text: ({ operation, why }) => `${operation} is no tool: ${why}`,
    explanation:
      "A tool has the arguments `path`, `query`, `header` and `body`, which are an operation's parameters and its JSON body. An operation that needs something else (a cookie, a file, a form) can't be called so; the others of its document are tools all the same.",
  }),
};
