import type { JsonObject } from "../../cel/variables.ts";

/** The namespaces whose values are sent as metadata of the call. */
export const CALL_NAMESPACES: readonly string[] = [
  "gwc.dev.grpc_initial_metadata",
  "agentgateway.dev.grpc_initial_metadata",
];

/** Returns the metadata of a call as a flat list. Values are strings, numbers and booleans; invalid ones are omitted. */
export function callMetadata(metadata: JsonObject): readonly string[] {
  return CALL_NAMESPACES.flatMap((namespace) => {
    const values = metadata[namespace];
    if (typeof values !== "object" || values === null) return [];
    return Object.entries(values).flatMap(([name, value]) => {
      const isScalar = ["string", "number", "boolean"].includes(typeof value);
      const text = String(value);
      return isScalar && PRINTABLE.test(text) ? [name.toLowerCase(), text] : [];
    });
  });
}

/** ASCII-Value (grpc.io, PROTOCOL-HTTP2). */
const PRINTABLE = /^[\x20-\x7e]*$/;
