import type { Rule } from "./rules.ts";

/** One thing that a policy decides about who may send a request. */
export type AccessCheck =
  /** Someone has to be known. */
  | {
      readonly kind: "identity";
      /** The CEL variable of who it is. */
      readonly variable: string;
      /** False: requests of nobody go on. */
      readonly isRequired: boolean;
      /** What proves it, as people say it: `a token of https://issuer.example.com`. */
      readonly proof: string;
    }
  /** Rules over the request. */
  | {
      readonly kind: "rules";
      /** Those of `mcp` are asked about each tool, prompt and resource. */
      readonly phase: "request" | "mcp";
      readonly rules: readonly Rule[];
      /** The servers whose items they are about; undefined: all of them. */
      readonly targets:
        | { readonly names: readonly string[]; readonly isExcluded: boolean }
        | undefined;
    }
  /** What only a running gateway knows: a server that is asked, a limit that is used up. */
  | { readonly kind: "outside"; readonly what: string };

/** What a change does to who may do what. */
export type ChangeDirection = "opens" | "closes" | "changes";

/** A change of settings, for those who review it. */
export interface SettingsChange {
  readonly direction: ChangeDirection;
  /** What is different, as a phrase: `mode strict -> optional`. */
  readonly text: string;
}

/** What a list gained and lost: `gaining` says what one more means for who may. */
export function listChanges(
  what: string,
  before: readonly string[],
  after: readonly string[],
  gaining: ChangeDirection,
): readonly SettingsChange[] {
  const losing = ({ opens: "closes", closes: "opens", changes: "changes" } as const)[gaining];
  const gained = after.filter((each) => !before.includes(each));
  const lost = before.filter((each) => !after.includes(each));
  return [
    ...gained.map((each) => ({ direction: gaining, text: `${what} ${each} added` })),
    ...lost.map((each) => ({ direction: losing, text: `${what} ${each} removed` })),
  ];
}
