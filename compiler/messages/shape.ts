import { didYouMean, message } from "./message.ts";

/** Values that do not fit the schema. */
export const shapeMessages = {
  "unknown-field": message<{
    owner: string;
    key: string;
    suggestion: string | undefined;
    known: string;
  }>({
    severity: "error",
    text: ({ owner, key }) => `${owner} has no field "${key}"`,
    hint: ({ suggestion, known }) => didYouMean(suggestion) ?? `fields here: ${known}`,
    explanation:
      "Every key of a configuration is known by name: a misspelled key would otherwise be ignored, and the policy " +
      "that it names would not be enforced.",
  }),
};
