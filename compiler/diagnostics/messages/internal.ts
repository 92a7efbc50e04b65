import { message } from "./message.ts";

/** Bugs of gwc that show in one part of a configuration. */
export const internalMessages = {
  "internal-error": message<{ what: string; error: string }>({
    severity: "error",
    text: ({ what, error }) => `gwc cannot compile ${what} because of a bug in gwc: ${error}`,
    hint: () => "report this line; until the bug is fixed, change or remove what stands here",
    explanation:
      "An error was thrown while gwc compiled this object. It is a bug in gwc, whatever the configuration says. The " +
      "object is treated like one with a mistake: `gwc check` and `gwc build` refuse it and report everything else; the " +
      "controller answers its requests with 500 and serves everything else. The line names the kind of error and its " +
      "place in gwc, and nothing of the configuration.",
  }),
};
