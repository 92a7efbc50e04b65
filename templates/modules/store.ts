import type { Program } from "../../compiler/ir/program.ts";
import type { RedisNode } from "../../compiler/ir/store.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Expression, ImportSymbol, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { call } from "../code/syntax.ts";

/** Writes the store of a gateway; `undefined` if nothing uses one. */
export function storeValue({ store }: Program): Code | undefined {
  switch (store?.kind) {
    case undefined:
      return undefined;
    case "embedded":
      return opened(imported("gwc/runtime/store/embedded-store", "embeddedStore"));
    case "redis":
      return opened(redisSource(store));
  }
}

function redisSource(store: RedisNode): Code {
  const settings = literal(redisSettings(store));
  switch (store.otherwise) {
    case undefined:
      return code`${imported("gwc/runtime/store/redis-store", "redisStore")}(${settings})`;
    case "nothing":
      return code`${REDIS_IF_NAMED}(${settings})`;
    case "embedded":
      return code`${call(REDIS_IF_NAMED, [settings, imported("gwc/runtime/store/embedded-store", "embeddedStore")])}`;
  }
}

const REDIS_IF_NAMED = imported("gwc/runtime/store/optional-store", "redisStoreIfNamed");

function opened(source: Code | ImportSymbol): Code {
  return code`${call(imported("gwc/runtime/gateway/process-store", "processStore"), [source])}`;
}

function redisSettings({ url, prefix, isCluster, sentinelName }: RedisNode): Printable {
  return {
    url: typeof url === "string" || url.kind === "env" ? url : { file: secretPath(url.file) },
    prefix,
    isCluster: isCluster || undefined,
    sentinelName,
  };
}

function secretPath(file: string): Expression {
  return call(imported("gwc/runtime/process/startup-values", "secretFile"), [literal(file)]);
}
