import { didYouMean, message } from "./message.ts";

/** Diagnostics about values that do not match the schema. */
export const shapeMessages = {
  "unknown-field": message<{
    owner: string;
    key: string;
    /** Complete hint that says how to write it instead. */
    instead: string | undefined;
    suggestion: string | undefined;
    /** Nearby object that has this field; `undefined` if none has. */
    standsIn: string | undefined;
    known: string;
  }>({
    severity: "error",
    text: ({ owner, key }) => `${owner} has no field "${key}"`,
    hint: ({ key, instead, suggestion, standsIn, known }) => {
      if (key.startsWith("//")) return "a comment begins with #";
      if (/[\s=("&|]/.test(key))
        return 'YAML reads a string with ": " in it as a key and a value: put the whole string in single quotes';
      if (instead !== undefined) return instead;
      if (key === "<<")
        return "merge keys are not supported: write the fields here, or alias the whole mapping (`policies: *common`)";
      if (standsIn !== undefined) return `"${key}" is a field of ${standsIn}`;
      return didYouMean(suggestion) ?? `fields here: ${known}`;
    },
    explanation:
      "gwc rejects unknown keys: otherwise a misspelled key would be ignored, and the policy that it configures would " +
      "not be enforced.",
  }),
  "unknown-fields": message<{ owner: string; count: number }>({
    severity: "error",
    text: ({ owner, count }) => `${owner} has ${count} more unknown keys`,
    hint: () => "is this file meant for gwc?",
    explanation:
      "The first hundred unknown keys of an object are reported one by one; the others are only counted.",
  }),
  "missing-field": message<{ owner: string; key: string; advice?: string | undefined }>({
    severity: "error",
    text: ({ owner, key }) => `${owner} needs the field "${key}"`,
    hint: ({ advice }) => advice,
    explanation: "The field is required and has no default.",
  }),
  "not-built-yet": message<{ what: string; field: string; instead?: string | undefined }>({
    severity: "error",
    text: ({ what, field }) =>
      `${field} is not supported yet: this version of gwc cannot enforce ${what}`,
    hint: ({ instead }) => instead ?? "remove it, or wait for a version that supports it",
    explanation:
      "gwc never accepts a field that it does not enforce. This field is part of the configuration language, so it is " +
      "not misspelled, but this version of gwc does not implement it.",
  }),
  "admin-address": message<{ used: string }>({
    severity: "note",
    text: ({ used }) => `\`gwc run\` serves the admin page on ${used} only`,
    hint: () =>
      "to use it from elsewhere, add a login (config: { admin: { key: { file: admin.key } } }), or forward the port: ssh -L",
    explanation:
      "The admin page shows the configuration and recent requests. Without `config.admin.key` it has no login, so it is " +
      "served on loopback, whatever the address of `config.adminAddr`. A bundle has no admin page, so the setting does " +
      "nothing there.",
  }),
  "ignored-field": message<{ field: string; why: string; instead: string | undefined }>({
    severity: "warning",
    text: ({ field, why }) => `"${field}" has no effect: ${why}`,
    hint: ({ instead }) => instead,
    explanation:
      "The field is part of agentgateway's configuration, or an empty group of settings. gwc serves the same requests " +
      "without it, so the file is accepted. A field that restricts who may do what is never ignored.",
  }),
  "earlier-form": message<{ field: string; instead: string }>({
    severity: "warning",
    text: ({ field }) => `"${field}" is a form that agentgateway had before 1.0`,
    hint: ({ instead }) => `${instead}; \`gwc upgrade --write\` does it`,
    explanation:
      "Some fields of agentgateway before version 1.0 have other names or places now. gwc reads them with their " +
      "meaning if there is only one, and `gwc upgrade --write` rewrites them. `--strict` makes them errors.",
  }),
  "wrong-choice": message<{
    owner: string;
    rule: "exactlyOneOf" | "atLeastOneOf" | "atMostOneOf";
    names: readonly string[];
    found: readonly string[];
  }>({
    severity: "error",
    text: ({ owner, rule, names, found }) => {
      const list = names.map((name) => `"${name}"`).join(", ");
      // The other names are legacy spellings of this one.
      if (names.length === 1 && found.length === 0) return `${owner} needs the field ${list}`;
      const rules = {
        exactlyOneOf: "exactly one of",
        atLeastOneOf: "at least one of",
        atMostOneOf: "at most one of",
      };
      const has = found.length === 0 ? "none" : found.map((name) => `"${name}"`).join(" and ");
      return `${owner} needs ${rules[rule]} ${list}; it has ${has}`;
    },
    hint: ({ names, found }) => {
      if (found.length > 0) return "keep one of them";
      return names.length === 1 ? undefined : "write one of them";
    },
    explanation:
      "These fields exclude each other or depend on each other: each configures the same part in a different way.",
  }),
  "broken-rule": message<{ message: string; advice?: string | undefined }>({
    severity: "error",
    text: ({ message: rule }) => rule,
    hint: ({ advice }) => advice,
    explanation:
      "Some fields are only valid together with certain values of other fields. The rules are those of the resource " +
      "definition (`x-kubernetes-validations` in `gwc schema --crd`).",
  }),
  "wrong-type": message<{
    field: string;
    expected: string;
    found: string;
    /** Hint that says what to write instead. */
    advice?: string | undefined;
  }>({
    severity: "error",
    text: ({ field, expected, found }) => `${field} must be ${expected}, not ${found}`,
    hint: ({ advice }) => advice,
    explanation:
      "The value has a different type than the field requires. YAML reads `8080` as a number, `true` as a boolean and " +
      "`~` as null; put the value in quotes to make it a string.",
  }),
  "unknown-value": message<{
    field: string;
    /** The value in quotes, or the description of a value from the environment. */
    found: string;
    allowed: string;
    /** Complete hint that says how to write it instead. */
    instead: string | undefined;
    suggestion: string | undefined;
  }>({
    severity: "error",
    text: ({ field, found }) => `${field} can't be ${found}`,
    hint: ({ instead, suggestion, allowed }) =>
      instead ?? didYouMean(suggestion) ?? `one of: ${allowed}`,
    explanation: "The field accepts a fixed set of words. They are case-sensitive.",
  }),
  "out-of-range": message<{
    field: string;
    bound: string;
    /** Hint that says what to write instead. */
    advice?: string | undefined;
  }>({
    severity: "error",
    text: ({ field, bound }) => `${field} ${bound}`,
    hint: ({ advice }) => advice,
    explanation:
      "Numbers, string lengths and list lengths have limits; the message names the limit that was exceeded.",
  }),
  "bad-format": message<{
    field: string;
    expected: string;
    /** Hint that says what to write instead. */
    advice?: string | undefined;
  }>({
    severity: "error",
    text: ({ field, expected }) => `${field} must be ${expected}`,
    hint: ({ advice }) => advice,
    explanation: "The string does not have the format that the field requires.",
  }),
  "unset-variable": message<{ name: string; isBare: boolean }>({
    severity: "error",
    text: ({ name }) => `the environment variable "${name}" is not set`,
    hint: ({ name, isBare }) =>
      `set it, or give a fallback: \${${name}:-value}${isBare ? `; for the characters themselves, write $$${name}` : ""}`,
    explanation:
      "`${NAME}` or `$NAME` in a value is replaced when the configuration is compiled. Fields that hold a URL, a host or a secret " +
      "keep the reference and resolve it when the gateway starts; all other fields need the variable now. `$$` is a " +
      "dollar sign.",
  }),
  "misplaced-variable": message<{
    name: string;
    why: "outside-quotes" | "raw-text" | "comment" | "pattern";
  }>({
    severity: "error",
    text: ({ name, why }) => `the environment variable "${name}" ${MISPLACED[why].text}`,
    hint: ({ name, why }) => MISPLACED[why].hint(name),
    explanation:
      "The value of a variable is data and never becomes part of an expression or a pattern. Inside quotes in an " +
      "expression it is a string, whatever it contains; outside quotes it must be a number, `true` or `false`. In a " +
      "pattern its characters match literally. The value is not shown because it may be a secret.",
  }),
  "literal-password-hash": message<Record<never, never>>({
    severity: "warning",
    text: () => "these password hashes are literals, so they become part of the bundle",
    hint: () =>
      "use htpasswd: {file: PATH}, or write ${NAME} and set the variable where the gateway runs",
    explanation:
      "A hash protects a password only until somebody guesses the password offline. A file is read where the gateway " +
      "runs, and again when it changes, and is part of neither the generated code nor the bundle.",
  }),
  "literal-secret": message<{ field: string; variable: string; instead: string | undefined }>({
    severity: "warning",
    text: ({ field, variable }) =>
      `${field} looks like a secret: a bundle reads it from the variable ${variable} instead`,
    hint: ({ instead }) => instead ?? "write ${NAME} and set the variable where the gateway runs",
    explanation:
      "Secrets never enter generated code or the bundle, because both are reviewed, diffed and shipped. `gwc run` uses " +
      "the literal. A bundle requires the variable that the warning names when it starts. Prefer your own reference, " +
      "`${NAME}`, or in manifests a Secret. With `--strict` this is an error.",
  }),
};

/** Messages by reason why a variable cannot be used in a place. */
const MISPLACED = {
  "outside-quotes": {
    text: "is outside quotes and is not a number, true or false",
    hint: (name: string) => `put it in quotes: "\${${name}}"`,
  },
  "raw-text": {
    text: "contains characters that a raw string cannot contain",
    hint: () => 'write the string without the "r" before its quote',
  },
  comment: {
    text: "is in a comment and has several lines",
    hint: () => "remove it from the comment",
  },
  pattern: {
    text: "contains special characters of patterns, which would match literally",
    hint: () => "write the pattern in the configuration",
  },
};
