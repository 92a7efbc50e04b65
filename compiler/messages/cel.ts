import { didYouMean, message } from "./message.ts";

/** Mistakes in CEL expressions. */
export const celMessages = {
  "cel-syntax": message<{ problem: string }>({
    severity: "error",
    text: ({ problem }) => `the expression is not valid CEL: ${problem}`,
    explanation:
      "The text could not be read as a Common Expression Language expression. The marked place is where reading " +
      "stopped. Strings need quotes, `and` is written `&&`, equality is `==`.",
  }),
  "cel-unknown-variable": message<{ name: string; known: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not a variable here`,
    hint: ({ suggestion, known }) => didYouMean(suggestion) ?? `variables here: ${known}`,
    explanation:
      "An expression may read the variables of the phase it runs in. A rule of a route knows the request and the " +
      "identities that the route's policies establish; only an MCP rule knows the tool.",
  }),
};
