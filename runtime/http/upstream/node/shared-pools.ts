/** Connections that end when nobody uses them any more. */
interface ClosablePool {
  close(): void;
}

/**
 * The pools of a process to its servers, of one version of HTTP: whoever reaches a server in the same way shares its
 * connections.
 */
export class SharedPools<Pool extends ClosablePool> {
  readonly #pools = new Map<string, { readonly pool: Pool; users: number }>();

  /** The pool of all who ask for this key; `open` makes it for the first one. Each of them gives it back once. */
  use(key: string, open: () => Pool): Pool {
    let shared = this.#pools.get(key);
    if (shared === undefined) {
      shared = { pool: open(), users: 0 };
      this.#pools.set(key, shared);
    }
    shared.users += 1;
    return shared.pool;
  }

  /** Somebody needs the pool no more; the last one closes it. Whether that was the last. */
  giveBack(key: string): boolean {
    const shared = this.#pools.get(key);
    if (shared === undefined) return true;
    shared.users -= 1;
    if (shared.users > 0) return false;
    this.#pools.delete(key);
    shared.pool.close();
    return true;
  }
}

/** What one upstream has of the pools of its process. */
export class PoolShare<Pool extends ClosablePool> {
  readonly #key: string | undefined;
  readonly #open: () => Pool;
  readonly #ofProcess: () => SharedPools<Pool> | undefined;
  #pools: SharedPools<Pool> | undefined;
  #pool: Pool | undefined;
  #isClosed = false;

  /** `key`: how the server is reached; undefined: nobody else does so. `ofProcess`: undefined while no gateway runs. */
  constructor(
    key: string | undefined,
    open: () => Pool,
    ofProcess: () => SharedPools<Pool> | undefined,
  ) {
    this.#key = key;
    this.#open = open;
    this.#ofProcess = ofProcess;
  }

  /** The pool; it is looked for when it is asked for first. */
  get pool(): Pool {
    this.#pool ??= this.#find();
    return this.#pool;
  }

  /** Whether nobody uses the pool any more: it is closed. */
  close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    if (this.#key !== undefined && this.#pools !== undefined)
      return this.#pools.giveBack(this.#key);
    this.#pool?.close();
    return true;
  }

  #find(): Pool {
    if (this.#isClosed) {
      // What is sent all the same ends with its connection.
      const pool = this.#open();
      pool.close();
      return pool;
    }
    if (this.#key === undefined) return this.#open();
    this.#pools = this.#ofProcess();
    return this.#pools?.use(this.#key, this.#open) ?? this.#open();
  }
}
