import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, Name } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { bytes, milliseconds } from "../../code/units.ts";
import { upstreamCode } from "../parts/connection.ts";

type CacheNode = NonNullable<BackendNode<"ai">["groups"][number][number]["cache"]>;

/** Declares the cache of a provider's responses. `scope`: function of the callers who share them. */
export function cacheCode(id: Name, { ttl, maxBytes }: CacheNode, scope: Name | undefined): Code {
  const open = imported("gwc/runtime/llm/cache/response-cache", "openResponseCache");
  const settings = { ttl: milliseconds(ttl), maxBytes: bytes(maxBytes), scope };
  return code`const ${id} = ${open}(${literal(settings)});`;
}

/** Declares what the cache `cache` may respond with besides its own responses to equal requests. */
export function furtherCode(id: Name, node: CacheNode, cache: Name): Code {
  const { ttl, maxBytes, pool, similar } = node;
  const open = imported("gwc/runtime/llm/calls/further-responses", "openFurtherResponses");
  const maxVectors = similar?.maxVectors ?? 0;
  const settings = {
    cache,
    pool:
      pool === undefined
        ? undefined
        : { name: pool, ttl: milliseconds(ttl), maxBytes: bytes(maxBytes), maxVectors },
    similar: similar && similarCode(similar, ttl),
  };
  return code`const ${id} = ${open}(${literal(settings)});`;
}

function similarCode(
  { target, model, threshold, maxVectors, path, price }: NonNullable<CacheNode["similar"]>,
  ttl: number,
): Code {
  const open = imported("gwc/runtime/llm/cache/similar-requests", "similarRequests");
  const settings = {
    server: upstreamCode(target.url, target.connection),
    deadline: milliseconds(target.deadline),
    ...{ model, path, threshold, maxVectors, price },
    ttl: milliseconds(ttl),
  };
  return code`${open}(${literal(settings)})`;
}
