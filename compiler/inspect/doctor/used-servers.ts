import { isHole } from "../../../templates/code/hole.ts";
import { isOrigin } from "../../4-emit/startup-needs.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { AcmeNode } from "../../ir/acme.ts";
import type { Program } from "../../ir/program.ts";
import type { StoreNode } from "../../ir/store.ts";
import type { BackendTlsNode } from "../../model/connections.ts";
import { shownText, type Text } from "../../model/texts.ts";

/** A server to which a gateway connects. */
export interface UsedServer {
  /** URL, or `HOST:PORT` of a server of forwarded connections. */
  readonly url: Text;
  readonly tls: BackendTlsNode | undefined;
  /** Whether connections to it use a proxy. */
  readonly isTunneled: boolean;
  readonly origin: Origin;
}

/** Lists the servers that a program names anywhere: backends, and those that policies ask. Each is listed once. */
export function usedServers({ binds, tcp, tracing, acme, store }: Program): readonly UsedServer[] {
  const found = new Map<string, UsedServer>();
  const walk = (value: unknown, around: Origin | undefined): void => {
    if (typeof value !== "object" || value === null || isHole(value)) return;
    if (Array.isArray(value)) {
      for (const item of value) walk(item, around);
      return;
    }
    const fields: Readonly<Record<string, unknown>> = { ...value };
    const origin = isOrigin(fields.origin) ? fields.origin : around;
    const url = addressOf(fields);
    if (origin !== undefined && url !== undefined) {
      const server = { url, ...connectionOf(fields), origin };
      if (!found.has(shownText(url))) found.set(shownText(url), server);
    }
    for (const name in fields) if (!LOCAL.has(name)) walk(fields[name], origin);
  };
  walk({ binds, tcp, tracing }, undefined);
  return [
    ...found.values(),
    ...(acme ? [acmeServer(acme)] : []),
    ...(store ? storeServer(store) : []),
  ];
}

function acmeServer({ directory, root, origin }: AcmeNode): UsedServer {
  const tls = root && { verification: "full" as const, authorities: [root] };
  return { url: directory, tls, isTunneled: false, origin };
}

/** Returns the server of a store whose URL is not in a file, which only the gateway may read. */
function storeServer(store: StoreNode): readonly UsedServer[] {
  if (store.kind !== "redis" || !isText(store.url)) return [];
  return [{ url: store.url, tls: undefined, isTunneled: false, origin: store.origin }];
}

/** Fields without servers: places, conditions of routes, and listeners of the gateway itself. */
const LOCAL: ReadonlySet<string> = new Set(["origin", "table"]);

/** Returns the address of a node that is a server; `undefined` if it is not one. */
function addressOf(fields: Readonly<Record<string, unknown>>): Text | undefined {
  const { url, address, connection } = fields;
  if (isText(url) && /^(https?:\/\/|\$\{)/.test(shownText(url))) return url;
  return isText(address) && connection !== undefined ? address : undefined;
}

function isText(value: unknown): value is Text {
  if (typeof value === "string") return true;
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "env";
}

function connectionOf({
  connection,
}: Readonly<Record<string, unknown>>): Pick<UsedServer, "tls" | "isTunneled"> {
  if (typeof connection !== "object" || connection === null)
    return { tls: undefined, isTunneled: false };
  const tls = "tls" in connection && isTls(connection.tls) ? connection.tls : undefined;
  return { tls, isTunneled: "tunnel" in connection };
}

function isTls(value: unknown): value is BackendTlsNode {
  return typeof value === "object" && value !== null && "verification" in value;
}
