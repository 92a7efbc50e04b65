import type { JsonBody } from "../../json/json-body.ts";

/** Configured changes of every request body. */
export interface BodyEdits {
  /** Values that replace the request's. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Values of fields that are absent in the request. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Adds messages, in the format of the client. */
  readonly prompts?: (body: JsonBody) => void;
}

/** Combines edits. Values are serialized once, when the gateway starts. */
export function editBody({ overrides, defaults, prompts }: BodyEdits): (body: JsonBody) => void {
  const set = texts(overrides);
  const missing = texts(defaults);
  return (body) => {
    for (const [field, value] of set) body.set(field, value);
    for (const [field, value] of missing) body.setDefault(field, value);
    prompts?.(body);
  };
}

function texts(
  values: Readonly<Record<string, unknown>> = {},
): readonly (readonly [string, string])[] {
  return Object.entries(values).map(([field, value]) => [field, JSON.stringify(value)]);
}
