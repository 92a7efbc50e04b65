import { parseObject } from "../parse-object.ts";

/**
 * Data of reasoning that a provider expects back. The Responses API has one place for it, `encrypted_content` of a reasoning
 * item, which clients return unchanged.
 */
export type Replay =
  /** Signature of the reasoning that the item shows. */
  | { readonly kind: "signature"; readonly value: string }
  /** All of the reasoning; the item shows nothing. */
  | { readonly kind: "redacted"; readonly value: string }
  /** Signature of the call in the next item. */
  | { readonly kind: "call"; readonly value: string };

/** Encodes it as `encrypted_content`. */
export function writeReplay({ kind, value }: Replay): string {
  return MARK + Buffer.from(JSON.stringify({ kind, value })).toString("base64url");
}

/** Decodes it; `undefined` if another server wrote it, which only that server can read. */
export function readReplay(text: string | undefined): Replay | undefined {
  if (text?.startsWith(MARK) !== true) return undefined;
  const { kind, value } =
    parseObject(Buffer.from(text.slice(MARK.length), "base64url").toString("utf8")) ?? {};
  const isKnown = kind === "signature" || kind === "redacted" || kind === "call";
  return isKnown && typeof value === "string" ? { kind, value } : undefined;
}

/** Prefix that no other server uses: their values are base64. */
const MARK = "gateway.";
