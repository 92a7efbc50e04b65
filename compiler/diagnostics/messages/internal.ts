import { message } from "./message.ts";

/** Bugs of gwc that affect one part of a configuration. */
export const internalMessages = {
  "internal-error": message<{ what: string; error: string }>({
    severity: "error",
    text: ({ what, error }) => `gwc cannot compile ${what} because of a bug in gwc: ${error}`,
    hint: () => "report this line; until the bug is fixed, change or remove this part",
    explanation:
      "gwc threw an error while it compiled this object. This is a bug in gwc, not in the configuration. The object is " +
      "treated like one with a mistake: `gwc check` and `gwc build` refuse it and report everything else; the " +
      "controller answers its requests with 500 and serves everything else. The line names the kind of error and its " +
      "place in gwc's code, and quotes nothing from the configuration.",
  }),
};
