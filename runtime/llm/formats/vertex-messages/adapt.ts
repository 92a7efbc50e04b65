import type { JsonBody } from "../../../json/json-body.ts";
import {
  applyEdits,
  type Edit,
  elementsOf,
  isArrayAt,
  isObjectAt,
  objectMembers,
  skipSpace,
} from "../../../json/json-text.ts";

/**
 * Adapts a request of the Messages API to Vertex AI: the model is in the path, the version in the body, and unsupported
 * fields are removed.
 */
export function adaptToVertex(body: JsonBody): void {
  body.delete("model");
  adaptCountToVertex(body);
}

/** Adapts a request to count tokens. Its path is the same for all models, so the model remains in the body. */
export function adaptCountToVertex(body: JsonBody): void {
  body.delete("output_format");
  body.set("anthropic_version", '"vertex-2023-10-16"');
  for (const field of ["system", "messages", "tools", "cache_control"]) {
    const text = body.get(field);
    if (text?.includes('"scope"')) body.set(field, withoutScopes(`{"${field}":${text}}`, field));
  }
}

/** Removes `scope` from every `cache_control` in a field. */
function withoutScopes(object: string, field: string): string {
  const edits: Edit[] = [];
  findScopes(object, 0, edits);
  return applyEdits(object, edits).slice(`{"${field}":`.length, -1);
}

function findScopes(text: string, at: number, edits: Edit[]): void {
  if (isArrayAt(text, at)) {
    for (const { start } of elementsOf(text, at)) findScopes(text, start, edits);
  }
  if (!isObjectAt(text, at)) return;
  for (const { key, start, end } of objectMembers(text, at)) {
    if (key !== "cache_control" || !isObjectAt(text, start)) findScopes(text, start, edits);
    else {
      const kept = objectMembers(text, skipSpace(text, start)).filter(({ key }) => key !== "scope");
      const members = kept.map((member) => text.slice(member.keyStart, member.end));
      edits.push({ start, end, text: `{${members.join(",")}}` });
    }
  }
}
