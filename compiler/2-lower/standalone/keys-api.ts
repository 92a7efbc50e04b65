import type { KeysApiValue } from "../../1-parse/standalone/keys-api.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { KeysApiNode } from "../../ir/keys-api.ts";

/** Reads `keysApi`; `origin` is its place. Returns `undefined` if there is none. */
export function readKeysApi(
  value: KeysApiValue | undefined,
  origin: Origin,
): KeysApiNode | undefined {
  if (value === undefined) return undefined;
  const { port = DEFAULT_PORT, address = "127.0.0.1", key } = value;
  return {
    ...{ port, address, origin },
    key: { kind: "path", file: key.file, origin: childOf(origin, "key", "file") },
  };
}

const DEFAULT_PORT = 15_030;
