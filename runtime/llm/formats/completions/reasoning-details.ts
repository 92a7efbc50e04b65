import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ContentBlock } from "../../chat/content.ts";
import { isFilledText } from "../parse-object.ts";

/**
 * Collects the `reasoning_details` of a message, as OpenRouter's server sends them: texts, summaries and encrypted pieces, which
 * it expects back unchanged. Pieces of a stream belong to the detail of the same index and type before.
 */
export class ReasoningDetails {
  readonly #details: JsonObject[] = [];

  /** Takes a list; anything else is no list of details. */
  add(list: unknown): void {
    for (const detail of Array.isArray(list) ? list.filter(isJsonObject) : []) {
      const at = this.#details.findLastIndex(
        ({ index, type }) => index !== undefined && index === detail.index && type === detail.type,
      );
      const before = this.#details[at];
      if (before === undefined) this.#details.push(detail);
      else this.#details[at] = joined(before, detail);
    }
  }

  /** The readable reasoning. */
  get text(): string {
    return this.#details
      .flatMap(({ text, summary }) => [text, summary].filter(isFilledText))
      .join("\n\n");
  }

  /**
   * The details as the signature of reasoning, which clients of other formats send back unchanged; `undefined` if the server can
   * do without them.
   */
  get signature(): string | undefined {
    const isExpected = this.#details.some(
      ({ signature, data }) => isFilledText(signature) || isFilledText(data),
    );
    if (!isExpected) return undefined;
    return MARK + Buffer.from(JSON.stringify(this.#details)).toString("base64url");
  }
}

/** Returns the details that a client sends back, for the server that wrote them; `undefined` if there are none. */
export function replayedDetails(
  blocks: readonly ContentBlock[],
): readonly JsonObject[] | undefined {
  const signatures = blocks.flatMap((block) =>
    block.kind === "reasoning" && isOfDetails(block.signature ?? "") ? [block.signature ?? ""] : [],
  );
  const details = signatures.flatMap(detailsOf);
  return details.length === 0 ? undefined : details;
}

/** Whether a signature contains details of reasoning, which only the server of them reads. */
export function isOfDetails(signature: string): boolean {
  return signature.startsWith(MARK);
}

/** Clients join signatures that follow each other. */
function detailsOf(signature: string): readonly JsonObject[] {
  return signature
    .split(MARK)
    .slice(1)
    .flatMap((text) => parsed(Buffer.from(text, "base64url").toString("utf8")));
}

function parsed(text: string): readonly JsonObject[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isJsonObject) : [];
  } catch {
    return [];
  }
}

function joined(before: JsonObject, next: JsonObject): JsonObject {
  const texts = ["text", "summary", "data"].flatMap((name) => {
    const [first, last] = [before[name], next[name]];
    return isFilledText(first) && isFilledText(last) ? [[name, first + last] as const] : [];
  });
  const given = Object.entries(next).filter(([, value]) => value !== null);
  return { ...before, ...Object.fromEntries(given), ...Object.fromEntries(texts) };
}

const MARK = "details:";
