import type { Exchange } from "../../http/exchange.ts";
import {
  applyEdits,
  type Edit,
  elementsOf,
  isArrayAt,
  isObjectAt,
  type Member,
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
import { type FileKind, type IdOwner, openId } from "./stored-ids.ts";

/** How the requests of a vendor name files. */
export interface FileNames {
  readonly kind: FileKind;
  /** Members in which ids are no references. */
  readonly otherMembers: ReadonlySet<string>;
  /** Matches the types of objects whose ids are no references; absent if there are none. */
  readonly otherTypes?: RegExp;
}

/** OpenAI's ids, except for what models have cited and found, fields of the client, and schemas. */
export const OPENAI_FILES: FileNames = {
  kind: "file-",
  otherMembers: new Set([
    ...["annotations", "results", "attributes", "metadata", "client_metadata"],
    ...["parameters", "schema"],
  ]),
};

/** Anthropic's ids, except for inputs and schemas of tools, fields of the client, and what programs have written. */
export const ANTHROPIC_FILES: FileNames = {
  kind: "file_",
  otherMembers: new Set(["input", "input_schema", "input_examples", "schema", "metadata"]),
  otherTypes: /_output$/,
};

/**
 * Creates a target whose requests may name files by the ids that the gateway gave. The provider gets its own ids. A request
 * with the id of another caller's file, or with one that the gateway did not give, is refused.
 */
export function withStoredFiles(target: LlmTarget, names: FileNames): LlmTarget {
  const { forModel } = target;
  return {
    ...target,
    ...(forModel && { forModel: (model, call) => withStoredFiles(forModel(model, call), names) }),
    requestBody: (call, body, exchange) => {
      const written = target.requestBody(call, body, exchange);
      const text = typeof written === "string" ? written : bufferOf(written).toString("utf8");
      const edits = fileEdits(text, names, exchange, target.provider);
      return edits.length === 0 ? written : applyEdits(text, edits);
    },
  };
}

/** Returns the replacements of the ids of files. Throws LlmRefusal for an id that the caller may not use here. */
function fileEdits(
  text: string,
  names: FileNames,
  exchange: Exchange,
  provider: Provider,
): readonly Edit[] {
  // Fast path: most requests name no file.
  if (!text.includes("file_id") && !text.includes("\\u")) return [];
  const ids: TextRange[] = [];
  findIds(text, skipSpace(text, 0), names, ids);
  if (ids.length === 0) return [];
  const owner = knownOwner(exchange, provider.clientKey !== undefined);
  return ids.map(({ start, end }) => {
    const id = stringAt(text, { start, end }) ?? "";
    return { start, end, text: JSON.stringify(ownId(id, names, owner, provider)) };
  });
}

/** Finds the values of `file_id` and `file_ids` in a value, at any depth. */
function findIds(text: string, at: number, names: FileNames, found: TextRange[]): void {
  if (isArrayAt(text, at)) {
    for (const { start } of elementsOf(text, at)) findIds(text, start, names, found);
  }
  if (!isObjectAt(text, at)) return;
  const members = objectMembers(text, at);
  if (isOtherType(text, members, names)) return;
  for (const { key, start, end } of members) {
    if (names.otherMembers.has(key)) continue;
    const values = key === "file_ids" && isArrayAt(text, start) ? elementsOf(text, start) : [];
    const named = key === "file_id" ? [{ start, end }] : values;
    found.push(...named.filter((range) => stringAt(text, range) !== undefined));
    findIds(text, start, names, found);
  }
}

/** Whether the ids of an object are no references. */
function isOtherType(text: string, members: readonly Member[], { otherTypes }: FileNames): boolean {
  const types = members.filter(({ key }) => key === "type");
  // A repeated member may mean either value.
  return types.length === 1 && types.every((type) => otherTypes?.test(stringAt(text, type) ?? ""));
}

function ownId(
  id: string,
  { kind }: FileNames,
  owner: IdOwner | undefined,
  { upstream }: Provider,
): string {
  const place = owner && openId(owner, kind, id);
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
