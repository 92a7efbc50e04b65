import { decodeBlock } from "./scalar-block.ts";
import type { DecodedScalar } from "./scalar-builder.ts";
import { decodeDouble, decodePlain, decodeSingle } from "./scalar-flow.ts";

/** A YAML scalar as it stands in its file. */
export interface ScalarToken {
  /** The source of the node: with its quotes, or with the header of a block and its lines. */
  readonly text: string;
  /** Where that begins in the file. */
  readonly start: number;
  readonly style: "plain" | "single" | "double" | "literal" | "folded";
  /** The decoded value. Only a block with an explicit indentation (`|2`) needs it, to tell how deep it is. */
  readonly value?: string;
}

/**
 * Where in the file a place of a decoded scalar value stands. The value's end maps to the end of its last character; an
 * offset beyond is taken as the end.
 */
export function sourceOffset(token: ScalarToken, valueOffset: number): number {
  const { offsets } = decodeScalar(token);
  const offset = offsets[Math.max(0, Math.min(valueOffset, offsets.length - 1))];
  return token.start + (offset ?? 0);
}

/** Decodes a scalar (YAML 1.2.2, chapters 7.3 and 8.1) and keeps where each unit comes from. */
export function decodeScalar(token: ScalarToken): DecodedScalar {
  switch (token.style) {
    case "plain":
      return decodePlain(token.text);
    case "single":
      return decodeSingle(token.text);
    case "double":
      return decodeDouble(token.text);
    case "literal":
    case "folded":
      return decodeBlock(token.text, token.style === "folded", token.value);
  }
}
