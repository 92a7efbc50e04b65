import type { GatewayContext } from "../../process/gateway-context.ts";
import { sealNonce } from "../../process/session-seal.ts";
import { SECOND } from "../../process/units.ts";
import { Instances } from "../../store/instances.ts";
import { type Store, unlessAway } from "../../store/store.ts";
import { WatchedRecords } from "../../store/watched-records.ts";
import type { McpSession } from "./session.ts";
import { type SessionTable, sessionTable } from "./session-table.ts";

/** Milliseconds between attempts to write an end that the store did not accept. */
const RETRY = 1 * SECOND;
/** Maximum number of ends that wait for the store. */
const MAX_UNWRITTEN = 65_536;

const instances = new Instances<Store, EndedSessions>();

/** Returns the ended sessions of all replicas; `undefined` if the gateway has no store. */
export function endedSessions(gateway: GatewayContext): EndedSessions | undefined {
  const { store } = gateway;
  return store && instances.of(store, () => new EndedSessions(store, sessionTable(gateway)));
}

/**
 * The sessions that clients have ended, at any replica: an id contains all that a replica needs to continue a session, so each
 * one has to learn of its end.
 */
class EndedSessions {
  readonly #store: Store;
  readonly #records: WatchedRecords<boolean>;
  /** When the sessions expire whose ends are not written yet, by their nonces. */
  readonly #unwritten = new Map<string, number>();
  #retry: NodeJS.Timeout | undefined;

  constructor(store: Store, table: SessionTable) {
    this.#store = store;
    this.#records = new WatchedRecords(store, {
      space: SPACE,
      read: (_, text) => text !== undefined,
      // Only ids that this gateway has sealed are looked for.
      isCached: () => true,
    });
    // Streams of the session end, too. Of lost reports, the next request learns.
    store.onChange(SPACE, (nonce) => {
      const session = nonce === undefined ? undefined : table.withNonce(nonce);
      if (session !== undefined) table.end(session);
    });
  }

  /** Whether a client has ended the session at any replica. False if the store does not respond. */
  async has({ id }: McpSession): Promise<boolean> {
    return (await unlessAway(this.#records.find(sealNonce(id)))) ?? false;
  }

  /** Lets all replicas know that a session has ended; they learn it later if the store does not respond. */
  async add({ id, expiresAt }: McpSession): Promise<void> {
    const nonce = sealNonce(id);
    if (await this.#write(nonce, expiresAt)) return;
    if (this.#unwritten.size < MAX_UNWRITTEN) this.#unwritten.set(nonce, expiresAt);
    this.#retry ??= setInterval(() => void this.#writeAll(), RETRY).unref();
  }

  /** Resolves to whether the store responds. */
  async #write(nonce: string, expires: number): Promise<boolean> {
    const change = { was: undefined, value: "1", expires };
    return (await unlessAway(this.#store.replace(SPACE, nonce, change))) !== undefined;
  }

  async #writeAll(): Promise<void> {
    const now = Date.now();
    for (const [nonce, expiresAt] of this.#unwritten) {
      if (expiresAt > now && !(await this.#write(nonce, expiresAt))) return;
      this.#unwritten.delete(nonce);
    }
    clearInterval(this.#retry);
    this.#retry = undefined;
  }
}

const SPACE = "ended-mcp-sessions";
