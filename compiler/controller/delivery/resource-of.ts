import { createHash } from "node:crypto";
import type { DiscoveryResource } from "../../../runtime/discovery/resource-types.ts";

/** A text as a resource, whose version is a part of its digest. */
export function resourceOf(text: string): DiscoveryResource {
  const digest = createHash("sha256").update(text).digest("hex");
  return { version: digest.slice(0, 16), value: Buffer.from(text) };
}
