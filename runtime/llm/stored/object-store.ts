import type { Exchange } from "../../http/exchange.ts";
import { verifiedCaller } from "../calls/cache-key.ts";
import type { ChatService } from "../calls/chat-service.ts";
import type { NativeFormat } from "../chat/formats.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { PromptGuard } from "../guards/prompt-guard.ts";
import type { Provider } from "../providers/provider.ts";
import type { ApiIds } from "./object-ids.ts";
import { type IdOwner, openId, type StoredKind, sealId } from "./stored-ids.ts";

/** A provider that stores files or batches. */
export interface ObjectStore {
  readonly provider: Provider;
  /** Path of its API. */
  readonly path: string;
  /** Guards of its models; absent if there are none. */
  readonly guards?: readonly PromptGuard[];
}

/** Files or batches of a route. */
export interface StoreService {
  readonly stores: readonly ObjectStore[];
  /** Format of the client and the providers. */
  readonly format: NativeFormat;
  /** Services of the requests that a batch may have, by the path that they name. */
  readonly endpoints: Readonly<Record<string, ChatService>>;
  /** Maximum size of a request body, in bytes. */
  readonly limit: number;
  /** Maximum duration of a request in milliseconds; absent if there is no limit. */
  readonly timeout?: number;
  /** Response header that names the provider; absent if no header does. */
  readonly providerHeader?: string;
  /** Ids in the requests and responses of batches; absent if they have none. */
  readonly ids?: ApiIds;
}

/** A stored object, and where it is. */
export interface Stored {
  readonly store: ObjectStore;
  /** Its id at the provider. */
  readonly id: string;
}

/** Returns the owner of the ids of a request. Throws LlmRefusal if the caller is not known. */
export function idOwner(exchange: Exchange, { stores }: StoreService): IdOwner {
  // With keys of clients, the provider knows the owner itself.
  const isOwnKey = stores.every(({ provider }) => provider.clientKey !== undefined);
  const owner = knownOwner(exchange, isOwnKey);
  if (owner !== undefined) return owner;
  const message = "files and batches belong to a caller: authenticate";
  throw new LlmRefusal({ kind: "authentication", message });
}

/** Returns the owner of the ids of a request; `undefined` if the caller is not known. `isOwnKey`: whether the client has the key. */
export function knownOwner(exchange: Exchange, isOwnKey: boolean): IdOwner | undefined {
  const caller = verifiedCaller(exchange) ?? (isOwnKey ? "" : undefined);
  return caller === undefined ? undefined : { keys: exchange.gateway.sessionKeys, caller };
}

/** Finds a stored object of the caller. Throws LlmRefusal if there is none: the response does not tell why. */
export function storedOf(
  exchange: Exchange,
  service: StoreService,
  kind: StoredKind,
  id: string,
): Stored {
  const place = openId(idOwner(exchange, service), kind, id);
  const store = service.stores.find(
    ({ provider: { name, upstream } }) =>
      name === place?.provider && upstream.authority === place.authority,
  );
  if (place !== undefined && store !== undefined) return { store, id: place.id };
  const message = `no such object: "${id.slice(0, MAX_SHOWN)}"`;
  throw new LlmRefusal({ kind: "not-found", message, isOfPath: true });
}

const MAX_SHOWN = 32;

/** Returns the path of a stored object below its API, or of an action on it. */
export function pathOfStored({ id }: Stored, action?: string): string {
  return `/${encodeURIComponent(id)}${action === undefined ? "" : `/${action}`}`;
}

/** Returns a path below that of a store's API, which may have a query of its own. */
export function pathBelow({ path }: ObjectStore, rest: string): string {
  const [api = "", query] = path.split("?");
  return query === undefined ? api + rest : `${api}${rest}?${query}`;
}

/** Returns the id that the caller gets for an object of a provider. */
export function idAt(
  owner: IdOwner,
  kind: StoredKind,
  { provider }: ObjectStore,
  id: string,
): string {
  const { name, upstream } = provider;
  return sealId(owner, kind, { provider: name, authority: upstream.authority, id });
}
