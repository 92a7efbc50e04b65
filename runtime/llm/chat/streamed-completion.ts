import type { ToolCallBlock } from "./content.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "./response.ts";
import type { StreamEvent } from "./stream-event.ts";

/** One choice of a response. `stop` is `undefined` if the response is incomplete. */
export interface Completion extends Pick<ChatResponse, "blocks"> {
  readonly stop: ChatResponse["stop"] | undefined;
}

/** Joins the pieces of a stream. */
export function streamedCompletion(events: readonly StreamEvent[]): Completion {
  const blocks: ResponseBlock[] = [];
  const calls = new Map<number, OpenCall>();
  let stop: StopReason | undefined;
  for (const event of events) {
    switch (event.kind) {
      case "text":
      case "reasoning":
        addPiece(blocks, event.kind, event.text);
        break;
      case "tool-call": {
        const { id, name } = event;
        const call: OpenCall = { kind: "tool-call", id, name, input: "" };
        calls.set(event.index, call);
        blocks.push(call);
        break;
      }
      case "tool-input": {
        const call = calls.get(event.index);
        if (call !== undefined) call.input += event.text;
        break;
      }
      case "search":
      case "hosted":
      case "redacted-reasoning":
        blocks.push(event);
        break;
      case "stop":
        stop = event.reason;
        break;
    }
  }
  return { blocks, stop };
}

/** A call whose input grows with further pieces. */
type OpenCall = ToolCallBlock & { input: string };

/** Appends a piece to the last block if that has the same kind. */
function addPiece(blocks: ResponseBlock[], kind: "text" | "reasoning", text: string): void {
  const last = blocks.at(-1);
  const before = last?.kind === kind ? last.text : undefined;
  if (before !== undefined) blocks.pop();
  const joined = (before ?? "") + text;
  blocks.push(
    kind === "text" ? { kind, text: joined } : { kind, text: joined, signature: undefined },
  );
}
