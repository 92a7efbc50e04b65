import type { Exchange } from "../../http/exchange.ts";
import {
  applyEdits,
  type Edit,
  elementsOf,
  isArrayAt,
  isObjectAt,
  objectMembers,
  skipSpace,
  stringAt,
  type TextRange,
} from "../../json/json-text.ts";
import type { LlmTarget } from "../calls/target.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import type { Provider } from "../providers/provider.ts";
import { knownOwner } from "./object-store.ts";
import { type IdOwner, openId } from "./stored-ids.ts";

/**
 * Creates a target whose requests may name files by the ids that the gateway gave. The provider gets its own ids. A request
 * with the id of another caller's file, or with one that the gateway did not give, is refused.
 */
export function withStoredFiles(target: LlmTarget): LlmTarget {
  const { forModel } = target;
  return {
    ...target,
    ...(forModel && { forModel: (model, call) => withStoredFiles(forModel(model, call)) }),
    requestBody: (call, body, exchange) => {
      const written = target.requestBody(call, body, exchange);
      const text = typeof written === "string" ? written : bufferOf(written).toString("utf8");
      const edits = fileEdits(text, exchange, target.provider);
      return edits.length === 0 ? written : applyEdits(text, edits);
    },
  };
}

/** Returns the replacements of the ids of files. Throws LlmRefusal for an id that the caller may not use here. */
function fileEdits(text: string, exchange: Exchange, provider: Provider): readonly Edit[] {
  // Fast path: most requests name no file.
  if (!text.includes("file_id") && !text.includes("\\u")) return [];
  const ids: TextRange[] = [];
  findIds(text, skipSpace(text, 0), ids);
  if (ids.length === 0) return [];
  const owner = knownOwner(exchange, provider.clientKey !== undefined);
  return ids.map(({ start, end }) => {
    const id = stringAt(text, { start, end }) ?? "";
    return { start, end, text: JSON.stringify(ownId(id, owner, provider)) };
  });
}

/** Finds the values of `file_id` and `file_ids` in a value, at any depth. */
function findIds(text: string, at: number, found: TextRange[]): void {
  if (isArrayAt(text, at)) {
    for (const { start } of elementsOf(text, at)) findIds(text, start, found);
  }
  if (!isObjectAt(text, at)) return;
  for (const { key, start, end } of objectMembers(text, at)) {
    if (OTHER_MEANING.has(key)) continue;
    const values = key === "file_ids" && isArrayAt(text, start) ? elementsOf(text, start) : [];
    const named = key === "file_id" ? [{ start, end }] : values;
    found.push(...named.filter((range) => stringAt(text, range) !== undefined));
    findIds(text, start, found);
  }
}

/** Members in which ids are no references: what models have cited and found, fields of the client, and schemas. */
const OTHER_MEANING: ReadonlySet<string> = new Set([
  ...["annotations", "results", "attributes", "metadata", "client_metadata"],
  ...["parameters", "schema"],
]);

function ownId(id: string, owner: IdOwner | undefined, { upstream }: Provider): string {
  const place = owner && openId(owner, "file-", id);
  if (place === undefined) {
    const message = `no such file: "${id.slice(0, MAX_SHOWN)}"`;
    throw new LlmRefusal({ kind: "not-found", message, isOfPath: true, field: "file_id" });
  }
  if (place.authority === upstream.authority) return place.id;
  // Another provider of the route may have it.
  const message = "the file is stored at another provider than that of the model";
  throw new LlmRefusal({ kind: "unsupported", message, field: "file_id" });
}

const MAX_SHOWN = 32;
