import type { ContentBlock } from "../../chat/content.ts";
import { readReplay, writeReplay } from "../responses/replay.ts";

/** Reads reasoning that a client sends back. Signatures of Google's own models are useless to another provider. */
export function readReasoning(
  text: string,
  signature: string | undefined,
): readonly ContentBlock[] {
  const replay = readReplay(signature && Buffer.from(signature, "base64").toString("latin1"));
  if (replay?.kind === "redacted") return [{ kind: "redacted-reasoning", data: replay.value }];
  return [{ kind: "reasoning", text, signature: replay?.value }];
}

/** Writes data that a provider expects back with its reasoning as `thoughtSignature`, which is base64. */
export function replaySignature(kind: "signature" | "redacted", value: string): string {
  return Buffer.from(writeReplay({ kind, value }), "latin1").toString("base64");
}

/** Joins adjacent texts and thoughts, which a client of a stream sends back in pieces. A signature ends its thoughts. */
export function joinedBlocks(
  blocks: readonly ContentBlock[],
  next: ContentBlock,
): readonly ContentBlock[] {
  const last = blocks.at(-1);
  const before = blocks.slice(0, -1);
  if (last?.kind === "text" && next.kind === "text") {
    return [...before, { ...last, text: last.text + next.text }];
  }
  if (last?.kind === "reasoning" && next.kind === "reasoning" && last.signature === undefined) {
    return [...before, { ...next, text: last.text + next.text }];
  }
  return [...blocks, next];
}
