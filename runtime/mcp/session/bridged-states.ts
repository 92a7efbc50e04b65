import type { GatewayContext } from "../../process/gateway-context.ts";
import {
  type SessionKeys,
  sealNonce,
  sealSession,
  unsealSession,
} from "../../process/session-seal.ts";
import { Instances } from "../../store/instances.ts";
import { type Store, unlessAway } from "../../store/store.ts";
import { WatchedRecords } from "../../store/watched-records.ts";
import type { BridgedSession, BridgedState, StateChange } from "../transports/session-bridge.ts";
import { bridgedTargets, type McpSession } from "./session.ts";
import { type SessionTable, sessionTable } from "./session-table.ts";

/** The state of a session with one target, as it is stored. Names are short because it is stored with every session. */
interface StoredState {
  /** Log level. */
  readonly l?: string | undefined;
  /** Subscriptions. */
  readonly s: readonly string[];
  /** Tools with wrapped output. */
  readonly w: readonly string[];
}

/** Stored states by the index of their target. */
type StoredStates = Readonly<Record<string, StoredState>>;

/** The exchange of a session's state with other replicas. */
interface Sharing {
  /** Changes that no other replica knows, with the indexes of their targets. */
  readonly unshared: (readonly [index: number, change: StateChange])[];
  /** Resolves when the last write has ended. */
  write: Promise<void>;
  /** The record that the session has its state from. */
  loaded: string | undefined;
}

const instances = new Instances<Store, BridgedStates>();

/** Returns what replicas share of sessions with servers without sessions; `undefined` if the gateway has no store. */
export function bridgedStates(gateway: GatewayContext): BridgedStates | undefined {
  const { store, sessionKeys } = gateway;
  return (
    store && instances.of(store, () => new BridgedStates(store, sessionKeys, sessionTable(gateway)))
  );
}

/**
 * States of sessions with servers that have none: log levels and subscriptions of clients. The gateway holds them, so every replica
 * has to know them. They are sealed in the store.
 */
class BridgedStates {
  readonly #store: Store;
  readonly #keys: SessionKeys;
  readonly #records: WatchedRecords<string | undefined>;
  readonly #sharings = new WeakMap<McpSession, Sharing>();

  constructor(store: Store, keys: SessionKeys, table: SessionTable) {
    this.#store = store;
    this.#keys = keys;
    this.#records = new WatchedRecords(store, {
      space: SPACE,
      read: (_, text) => text,
      // Only ids that this gateway has sealed are looked for.
      isCached: () => true,
    });
    store.onChange(SPACE, (nonce) => {
      const session = nonce === undefined ? undefined : table.withNonce(nonce);
      // Its open streams have to deliver what it subscribed to at another replica.
      if (session !== undefined) void this.load(session);
    });
  }

  /** Shares the changes that a client makes in its session from now on. */
  share(session: McpSession): void {
    const sharing: Sharing = { unshared: [], write: Promise.resolve(), loaded: undefined };
    this.#sharings.set(session, sharing);
    for (const [index, target] of bridgedTargets(session)) {
      const share = (change: StateChange) => {
        sharing.unshared.push([index, change]);
        return this.#writeNext(session, sharing);
      };
      target.share = share;
    }
  }

  /** Gives a session the state that other replicas know; it keeps its own if the store does not respond. */
  async load(session: McpSession): Promise<void> {
    const sharing = this.#sharings.get(session);
    const targets = bridgedTargets(session);
    if (targets.length === 0 || sharing === undefined) return;
    if (sharing.unshared.length > 0) await this.#writeNext(session, sharing);
    const nonce = sealNonce(session.id);
    const text = await unlessAway(this.#records.find(nonce));
    if (text === undefined || sharing.loaded === text || sharing.unshared.length > 0) return;
    sharing.loaded = text;
    const states = this.#read(nonce, text);
    for (const [index, target] of targets) replaceState(target, states[index]);
  }

  /** Writes the unshared changes of a session after those in flight. They stay if the store does not respond. */
  #writeNext(session: McpSession, sharing: Sharing): Promise<void> {
    sharing.write = sharing.write.then(() => unlessAway(this.#write(session, sharing)));
    return sharing.write;
  }

  async #write({ id, expiresAt: expires }: McpSession, { unshared }: Sharing): Promise<void> {
    const nonce = sealNonce(id);
    while (unshared.length > 0) {
      const was = await this.#store.read(SPACE, nonce);
      const count = unshared.length;
      const value = this.#seal(nonce, changed(this.#read(nonce, was), unshared));
      if (await this.#store.replace(SPACE, nonce, { was, value, expires }))
        unshared.splice(0, count);
    }
  }

  #seal(nonce: string, states: StoredStates): string {
    return sealSession(this.#keys, bindingOf(nonce), JSON.stringify(states));
  }

  #read(nonce: string, sealed: string | undefined): StoredStates {
    const text = sealed && unsealSession(this.#keys, bindingOf(nonce), sealed);
    // Authenticated JSON that a replica wrote itself.
    return text ? JSON.parse(text) : {};
  }
}

const SPACE = "mcp-session-states";

function bindingOf(nonce: string): string {
  return `mcp session state\n${nonce}`;
}

/** Returns the states after changes to them. */
function changed(states: StoredStates, changes: Sharing["unshared"]): StoredStates {
  const next = new Map(Object.entries(states));
  for (const [index, change] of changes) {
    const { l, s, w } = next.get(String(index)) ?? { s: [], w: [] };
    const state: BridgedState = { logLevel: l, subscriptions: new Set(s), wrapped: new Set(w) };
    change(state);
    const { logLevel, subscriptions, wrapped } = state;
    next.set(String(index), { l: logLevel, s: [...subscriptions], w: [...wrapped] });
  }
  return Object.fromEntries(next);
}

function replaceState(session: BridgedSession, state: StoredState | undefined): void {
  if (state === undefined) return;
  session.logLevel = state.l;
  for (const name of state.w) session.wrapped.add(name);
  const { subscriptions } = session;
  if (state.s.length === subscriptions.size && state.s.every((uri) => subscriptions.has(uri)))
    return;
  subscriptions.clear();
  for (const uri of state.s) subscriptions.add(uri);
  for (const listener of session.listeners) listener();
}
