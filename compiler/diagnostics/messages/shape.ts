import { didYouMean, message } from "./message.ts";

/** Values that do not fit the schema. */
export const shapeMessages = {
  "unknown-field": message<{
    owner: string;
    key: string;
    /** What says the same in another way, as a hint. */
    instead: string | undefined;
    suggestion: string | undefined;
    /** Where the key stands, when it is known in another place nearby. */
    standsIn: string | undefined;
    known: string;
  }>({
    severity: "error",
    text: ({ owner, key }) => `${owner} has no field "${key}"`,
    hint: ({ key, instead, suggestion, standsIn, known }) => {
      if (key.startsWith("//")) return "a comment begins with #";
      if (/[\s=("&|]/.test(key))
        return 'YAML reads a text with ": " in it as a key and its value: put the whole text in single quotes';
      if (instead !== undefined) return instead;
      if (key === "<<")
        return "no mappings are merged: write its fields here, or take a whole one (`policies: *common`)";
      if (standsIn !== undefined) return `"${key}" is a field of ${standsIn}`;
      return didYouMean(suggestion) ?? `fields here: ${known}`;
    },
    explanation:
      "Every key of a configuration is known by name: a misspelled key would otherwise be ignored, and the policy " +
      "that it names would not be enforced.",
  }),
  "unknown-fields": message<{ owner: string; count: number }>({
    severity: "error",
    text: ({ owner, count }) => `${owner} has ${count} more keys that are no fields`,
    hint: () => "is this file meant for gwc?",
    explanation:
      "The first hundred unknown keys of one object are reported each; the others are only counted.",
  }),
  "missing-field": message<{ owner: string; key: string }>({
    severity: "error",
    text: ({ owner, key }) => `${owner} needs the field "${key}"`,
    explanation:
      "The field has no default: without it the part of the configuration that should hold it means nothing.",
  }),
  "not-built-yet": message<{ what: string; field: string; instead?: string | undefined }>({
    severity: "error",
    text: ({ what, field }) =>
      `${field} is not built yet: this gwc knows ${what}, but cannot enforce it`,
    hint: ({ instead }) => instead ?? "remove it, or wait for the version that builds it",
    explanation:
      "gwc never accepts a field that it does not enforce. This one belongs to the configuration language, so it is " +
      "no misspelling, but the gateway that this version compiles would not act on it.",
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
      // The others are ways of old to write the same.
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
      "These fields exclude each other or depend on each other: each says a different thing about the same part.",
  }),
  "broken-rule": message<{ message: string }>({
    severity: "error",
    text: ({ message: rule }) => rule,
    explanation:
      "Some fields only make sense with certain values of others. The rules are the ones of the resource's definition " +
      "(`x-kubernetes-validations` in `gwc schema --crd`).",
  }),
  "wrong-type": message<{
    field: string;
    expected: string;
    found: string;
    /** What to write instead. */
    advice?: string | undefined;
  }>({
    severity: "error",
    text: ({ field, expected, found }) => `${field} must be ${expected}, not ${found}`,
    hint: ({ advice }) => advice,
    explanation:
      "The value has another type than the field takes. YAML reads `8080` as a number, `true` as a boolean and `~` as " +
      "nothing; quotes make a text of each.",
  }),
  "unknown-value": message<{
    field: string;
    /** The value in quotes, or what stands for it. */
    found: string;
    allowed: string;
    /** What says the same in another way, as a hint. */
    instead: string | undefined;
    suggestion: string | undefined;
  }>({
    severity: "error",
    text: ({ field, found }) => `${field} can't be ${found}`,
    hint: ({ instead, suggestion, allowed }) =>
      instead ?? didYouMean(suggestion) ?? `one of: ${allowed}`,
    explanation: "The field takes one of a few words. They are case-sensitive.",
  }),
  "out-of-range": message<{ field: string; bound: string }>({
    severity: "error",
    text: ({ field, bound }) => `${field} is out of range: it ${bound}`,
    explanation:
      "Numbers, lengths of texts and lengths of lists have bounds; the message names the one that was passed.",
  }),
  "bad-format": message<{
    field: string;
    expected: string;
    /** What to write instead. */
    advice?: string | undefined;
  }>({
    severity: "error",
    text: ({ field, expected }) => `${field} must be ${expected}`,
    hint: ({ advice }) => advice,
    explanation: "The text does not have the form that the field takes.",
  }),
  "unset-variable": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `the environment variable "${name}" is not set`,
    hint: ({ name }) => `set it, or give a fallback: \${${name}:-value}`,
    explanation:
      "`${NAME}` in a value is replaced when the configuration is compiled. Fields that hold a URL, a host or a secret " +
      "keep the reference and read it when the gateway starts; all others need the variable now. `$$` is a dollar sign.",
  }),
  "misplaced-variable": message<{
    name: string;
    why: "outside-quotes" | "raw-text" | "comment" | "pattern";
  }>({
    severity: "error",
    text: ({ name, why }) => `the environment variable "${name}" ${MISPLACED[why].text}`,
    hint: ({ name, why }) => MISPLACED[why].hint(name),
    explanation:
      "The value of a variable is data: it never becomes a part of an expression or of a pattern. In quotes of an " +
      "expression it is text, whatever it holds; outside of quotes it has to be a number, `true` or `false`. In a pattern " +
      "its characters stand for themselves. The value is not shown, for it may be a secret.",
  }),
  "literal-password-hash": message<Record<never, never>>({
    severity: "warning",
    text: () => "these password hashes are written out, so they become part of the bundle",
    hint: () =>
      "use htpasswd: {file: PATH}, or write ${NAME} and set the variable where the gateway runs",
    explanation:
      "A hash hides a password only as long as nobody tries words against it. A file is read where the gateway runs, and " +
      "again when it changes, and neither the generated code nor the bundle holds it.",
  }),
  "literal-secret": message<{ field: string; variable: string; instead: string | undefined }>({
    severity: "warning",
    text: ({ field, variable }) =>
      `${field} looks like a secret and is written out: a bundle reads it from the variable ${variable}`,
    hint: ({ instead }) => instead ?? "write ${NAME} and set the variable where the gateway runs",
    explanation:
      "Secrets never enter generated code or the bundle: both are reviewed, diffed and shipped. `gwc run` uses what is " +
      "written. A bundle asks for the variable that the warning names when it starts; better is a reference of your own, " +
      "`${NAME}`, or in manifests a Secret. With `--strict` it is an error.",
  }),
};

/** Why a variable cannot stand where it does. */
const MISPLACED = {
  "outside-quotes": {
    text: "stands outside of quotes and is no number, true or false",
    hint: (name: string) => `put it in quotes: "\${${name}}"`,
  },
  "raw-text": {
    text: "holds characters that a raw string cannot hold",
    hint: () => 'write the string without the "r" before its quote',
  },
  comment: {
    text: "stands in a comment and has several lines",
    hint: () => "remove it from the comment",
  },
  pattern: {
    text: "holds special characters of patterns, and would be taken literally",
    hint: () => "write the pattern into the configuration",
  },
};
