import type { Rule } from "./rules.ts";

/** A check of the caller's identity. */
export interface IdentityCheck {
  readonly kind: "identity";
  /** CEL variable of the identity. */
  readonly variable: string;
  /** Whether requests without an identity are refused. */
  readonly isRequired: boolean;
  /** Description of the accepted proof: `a token of https://issuer.example.com`. */
  readonly proof: string;
  /** Issuers whose tokens are accepted for any audience; `undefined` if there are none. */
  readonly anyAudience?: readonly string[];
}

/** A decision of a policy about who may send a request. */
export type AccessCheck =
  | IdentityCheck
  /** Rules over the request. */
  | {
      readonly kind: "rules";
      /** `mcp` rules are evaluated for each tool, prompt and resource. */
      readonly phase: "request" | "mcp";
      readonly rules: readonly Rule[];
      /** Servers whose items they apply to; `undefined` for all. */
      readonly targets:
        | { readonly names: readonly string[]; readonly isExcluded: boolean }
        | undefined;
    }
  /** A decision that only a running gateway can make: a server is called, or a limit is counted. */
  | {
      readonly kind: "outside";
      readonly what: string;
      /**
       * Whether it may refuse a caller permanently; otherwise it refuses permitted callers at times, for example over a
       * limit.
       */
      readonly decidesWho: boolean;
      /** Set if it refuses requests only when it fails, so that it protects nothing. */
      readonly refusesNobody?: boolean;
      /** Set if requests continue when it fails, without a server whose failure explains that. */
      readonly passesOnFailure?: boolean;
      /** Whether it establishes who the caller is. */
      readonly isIdentity?: boolean;
      /**
       * Headers that it decides by, if those and the rest of the head are known; `undefined` if they do not determine
       * the decision.
       */
      readonly reads?: { readonly headers: readonly string[] };
      /** Returns why it refuses a request with that head; `undefined` if it does not. */
      readonly refusal?: (head: RequestHead) => string | undefined;
    };

/** Head of a request, as policies see it. */
export interface RequestHead {
  readonly method: string;
  readonly host: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Effect of a change on who may do what. */
export type ChangeDirection = "opens" | "closes" | "changes";

/** A change of settings, for review. */
export interface SettingsChange {
  readonly direction: ChangeDirection;
  /** Description of the difference: `mode strict -> optional`. */
  readonly text: string;
  /** Changed lines of code; absent if the difference is not in code. */
  readonly lines?: readonly string[];
}

/** Comparison of two versions of settings. */
export interface SettingsComparison<Settings> {
  /** Returns the differences whose effect is known. */
  changes(before: Settings, after: Settings): readonly SettingsChange[];
  /**
   * Returns the settings that `changes` does not cover, which are compared field by field with those of the other
   * version.
   */
  rest(settings: Settings, others: Settings): unknown;
}

/**
 * Compares two lists; `gaining` is the effect of an additional item. An item that `covers` others includes them, so
 * that they are not reported as additions.
 */
export function listChanges(
  what: string,
  before: readonly string[],
  after: readonly string[],
  gaining: ChangeDirection,
  covers: (wide: string, narrow: string) => boolean = (wide, narrow) => wide === narrow,
): readonly SettingsChange[] {
  const losing = ({ opens: "closes", closes: "opens", changes: "changes" } as const)[gaining];
  const isIn = (list: readonly string[], item: string) => list.some((each) => covers(each, item));
  const gained = after.filter((each) => !isIn(before, each));
  const lost = before.filter((each) => !isIn(after, each));
  const below = (list: readonly string[], item: string) =>
    list.filter((each) => covers(item, each)).join(", ");
  return [
    ...gained.map((each) => {
      const narrower = below(before, each);
      const text = narrower === "" ? `${each} added` : `${narrower} widened to ${each}`;
      return { direction: gaining, text: `${what} ${text}` };
    }),
    ...lost.map((each) => {
      const narrower = below(after, each);
      const text = narrower === "" ? `${each} removed` : `${each} narrowed to ${narrower}`;
      return { direction: losing, text: `${what} ${text}` };
    }),
  ];
}
