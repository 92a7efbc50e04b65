import type { AdminValue } from "../../1-parse/standalone/admin.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { AdminNode } from "../../ir/admin.ts";

/** Reads `admin`; `origin` is its place. Returns `undefined` if there is none. */
export function readAdmin(value: AdminValue | undefined, origin: Origin): AdminNode | undefined {
  if (value === undefined) return undefined;
  const { key, hostnames = [] } = value;
  return {
    ...(key !== undefined && {
      key: { kind: "path", file: key.file, origin: childOf(origin, "key", "file") },
    }),
    hostnames: hostnames.map((name) => name.toLowerCase()),
    origin,
  };
}
