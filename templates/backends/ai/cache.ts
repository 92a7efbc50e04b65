import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, Name } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { bytes, milliseconds } from "../../code/units.ts";

type CacheNode = NonNullable<BackendNode<"ai">["groups"][number][number]["cache"]>;

/** Declares the cache of a provider's responses. `scope`: function of the callers who share them. */
export function cacheCode(id: Name, { ttl, maxBytes }: CacheNode, scope: Name | undefined): Code {
  const open = imported("gwc/runtime/llm/cache/response-cache", "openResponseCache");
  const settings = { ttl: milliseconds(ttl), maxBytes: bytes(maxBytes), scope };
  return code`const ${id} = ${open}(${literal(settings)});`;
}
