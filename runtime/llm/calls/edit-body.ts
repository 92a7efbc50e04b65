import type { JsonBody } from "../../json/json-body.ts";

/** What the configuration changes in the body of every request. */
export interface BodyEdits {
  /** Values in the place of the request's. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Values of fields that it does not have. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Adds messages, in the way of the client's format. */
  readonly prompts?: (body: JsonBody) => void;
}

/** The edits as one; JSON is written once, when the gateway starts. */
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
