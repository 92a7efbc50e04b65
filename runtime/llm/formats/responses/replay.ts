import { parseObject } from "../parse-object.ts";

/**
 * What a provider wants to see again of its reasoning and is not for people. The Responses API has one place for that,
 * `encrypted_content` of a reasoning item, which clients send back as they got it.
 */
export type Replay =
  /** Of the reasoning that the item shows. */
  | { readonly kind: "signature"; readonly value: string }
  /** All of the reasoning: the item shows nothing. */
  | { readonly kind: "redacted"; readonly value: string }
  /** Of the call in the next item. */
  | { readonly kind: "call"; readonly value: string };

/** As `encrypted_content`. */
export function writeReplay({ kind, value }: Replay): string {
  return MARK + Buffer.from(JSON.stringify({ kind, value })).toString("base64url");
}

/** The same, read; undefined: another server wrote it, and nobody here can read that. */
export function readReplay(text: string | undefined): Replay | undefined {
  if (text?.startsWith(MARK) !== true) return undefined;
  const { kind, value } =
    parseObject(Buffer.from(text.slice(MARK.length), "base64url").toString("utf8")) ?? {};
  const isKnown = kind === "signature" || kind === "redacted" || kind === "call";
  return isKnown && typeof value === "string" ? { kind, value } : undefined;
}

/** No other server's begins with it: theirs are base64. */
const MARK = "gateway.";
