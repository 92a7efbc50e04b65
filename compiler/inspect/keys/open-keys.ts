import { readFileSync } from "node:fs";
import type { KeyRegistry } from "../../../runtime/store/key-registry.ts";
import type { Store } from "../../../runtime/store/store.ts";
import { fileProblem, type Host } from "../../host.ts";
import type { Program } from "../../ir/program.ts";
import type { RedisNode } from "../../ir/store.ts";
import type { LiteralSecret } from "../../model/literal-secrets.ts";

/** The keys of a gateway's store, and how to close it. */
export interface OpenKeys {
  readonly keys: KeyRegistry;
  readonly close: () => Promise<void>;
}

/** Variable with the URL of a store that pods read from a mounted Secret. */
const URL_VARIABLE = "GWC_STORE_URL";

/** The store cannot be opened from here; the message says what to do. */
export class NoStoreError extends Error {
  override readonly name = "NoStoreError";
}

/** Opens the store of a gateway, as its process does. Throws a NoStoreError or a StoreError. */
export async function openKeys(
  program: Program,
  literals: readonly LiteralSecret[],
  host: Host,
): Promise<OpenKeys> {
  const { KeyRegistry: Registry } = await import("gwc/runtime/store/key-registry");
  const store = await openStore(program, literals, host, {
    missing: "this gateway accepts no keys of a store: write apiKey: { store: true }",
    what: "the keys are",
  });
  return { keys: new Registry(store), close: () => store.close() };
}

/** Words of problems with a store. */
interface StoreWords {
  /** Message if the gateway has no store. */
  readonly missing: string;
  /** `the keys are`. */
  readonly what: string;
}

/** Opens the store of a gateway, as its process does. Throws a NoStoreError or a StoreError. */
export async function openStore(
  { name, store }: Program,
  literals: readonly LiteralSecret[],
  host: Host,
  { missing, what }: StoreWords,
): Promise<Store> {
  if (store === undefined) throw new NoStoreError(missing);
  const { Metrics } = await import("gwc/runtime/metrics/metrics");
  const place = {
    stateDir: host.variable("GWC_STATE_DIR"),
    gateway: name,
    metrics: new Metrics(),
    // Each command that fails says why.
    warn: () => {},
  };
  const url = store.kind === "redis" ? urlOf(store, literals, host) : "";
  if (store.kind === "redis" && (store.otherwise === undefined || url !== "")) {
    const { openRedis } = await import("gwc/runtime/store/redis-store");
    const { prefix, isCluster, sentinelName } = store;
    const settings = { url, prefix, isCluster };
    return openRedis({ ...settings, ...(sentinelName !== undefined && { sentinelName }) }, place);
  }
  if (place.stateDir === undefined || place.stateDir === "")
    throw new NoStoreError(
      `${what} in a file of the gateway's state directory: set GWC_STATE_DIR to the same folder as for the gateway`,
    );
  const { databaseFile } = await import("gwc/runtime/store/embedded-database");
  const { openEmbeddedStore } = await import("gwc/runtime/store/embedded-store");
  return openEmbeddedStore(databaseFile(place.stateDir, name));
}

function urlOf({ url }: RedisNode, literals: readonly LiteralSecret[], host: Host): string {
  if (typeof url === "string") return url;
  if (url.kind !== "env") return mountedUrl(url.file, host);
  return url.parts
    .map((part) => {
      if (typeof part === "string") return part;
      const literal = literals.find(({ variable }) => variable === part.env)?.value;
      const value = host.variable(part.env) ?? literal ?? part.fallback;
      if (value === undefined)
        throw new NoStoreError(
          `the URL of the store needs the variable ${part.env}, which is not set`,
        );
      return value;
    })
    .join("");
}

function mountedUrl(file: string, host: Host): string {
  const given = host.variable(URL_VARIABLE);
  if (given !== undefined && given !== "") return given;
  const folder = host.variable("GWC_SECRETS_DIR");
  const hint = `set ${URL_VARIABLE} to a URL of the server that works from here`;
  if (folder === undefined)
    throw new NoStoreError(`the URL of the store is in the Secret entry ${file}: ${hint}`);
  try {
    return readFileSync(`${folder}/${file}`, "utf8");
  } catch (error) {
    throw new NoStoreError(`${folder}/${file} cannot be read: ${fileProblem(error)}; or ${hint}`);
  }
}
