import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { KeysApiNode } from "../ir/keys-api.ts";
import type { BindNode } from "../ir/program.ts";
import type { TcpBindNode } from "../ir/tcp.ts";
import { storeUser } from "./store.ts";

/** Ports of the gateway that the API must not share. */
interface ServedPorts {
  readonly binds: readonly BindNode[];
  readonly tcp: readonly TcpBindNode[];
}

/** Checks the HTTP API for keys: its port serves nothing else, and some route accepts the keys. */
export function resolveKeysApi(
  api: KeysApiNode,
  { binds, tcp }: ServedPorts,
  diagnostics: Diagnostics,
): KeysApiNode | undefined {
  const { port, origin } = api;
  if (storeUser(binds) === undefined) {
    diagnostics.report("idle-keys-api", keyPlace(origin), {});
    return undefined;
  }
  if ([...binds, ...tcp].some((bind) => bind.port === port)) {
    diagnostics.report("keys-api-port", keyPlace(origin), { port });
    return undefined;
  }
  return api;
}
