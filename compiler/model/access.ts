import type { Rule } from "./rules.ts";

/** Someone has to be known. */
export interface IdentityCheck {
  readonly kind: "identity";
  /** The CEL variable of who it is. */
  readonly variable: string;
  /** False: requests of nobody go on. */
  readonly isRequired: boolean;
  /** What proves it, as people say it: `a token of https://issuer.example.com`. */
  readonly proof: string;
  /** Issuers whose tokens count whoever they were issued for; absent: none. */
  readonly anyAudience?: readonly string[];
}

/** One thing that a policy decides about who may send a request. */
export type AccessCheck =
  | IdentityCheck
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
  | {
      readonly kind: "outside";
      readonly what: string;
      /** Whether it may refuse somebody for good; else whoever may is refused at times: over a limit, from another page. */
      readonly decidesWho: boolean;
      /** The headers that it decides by, if all of those and the rest of the head are known; absent: they do not say. */
      readonly reads?: { readonly headers: readonly string[] };
      /** Why it refuses a request with that head; undefined: it does not. */
      readonly refusal?: (head: RequestHead) => string | undefined;
    };

/** The head of a request, as policies see it. */
export interface RequestHead {
  readonly method: string;
  readonly host: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** What a change does to who may do what. */
export type ChangeDirection = "opens" | "closes" | "changes";

/** A change of settings, for those who review it. */
export interface SettingsChange {
  readonly direction: ChangeDirection;
  /** What is different, as a phrase: `mode strict -> optional`. */
  readonly text: string;
}

/** How another version of settings is told from the one before. */
export interface SettingsComparison<Settings> {
  /** What is different, as far as it is known what that means. */
  changes(before: Settings, after: Settings): readonly SettingsChange[];
  /** What `changes` says nothing of, as it is in these settings: it is compared field by field with that in the others. */
  rest(settings: Settings, others: Settings): unknown;
}

/**
 * What a list gained and lost: `gaining` says what one more means for who may. An item that `covers` others stands for
 * them, too: they are no gain beside it.
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
