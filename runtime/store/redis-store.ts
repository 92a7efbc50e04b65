import { readFileSync } from "node:fs";
import { storeErrors, storeUp } from "../metrics/table/store.ts";
import type { AccountReport, BucketState, Buckets } from "./buckets.ts";
import type { Channels } from "./channels.ts";
import { CommandDeadlines } from "./command-deadlines.ts";
import {
  type Client,
  IS_UNUSABLE,
  isOfConnection,
  isReply,
  openClient,
  type ReadConfig,
  type RedisConfig,
  reasonOf,
  serverIdentity,
} from "./redis-client.ts";
import { RedisResponses } from "./redis-responses.ts";
import {
  addScript,
  type RedisScript,
  replaceScript,
  takeScript,
  usageScript,
} from "./redis-scripts.ts";
import { type ChannelListener, RedisSubscriptions } from "./redis-subscriptions.ts";
import { readUsagePlace, usageCommands, usagePlaces } from "./redis-usage.ts";
import type { StoredResponses } from "./responses.ts";
import {
  type CounterUse,
  type CountResult,
  type RecordChange,
  type Space,
  type Store,
  StoreError,
} from "./store.ts";
import type { StorePlace, StoreSource } from "./store-source.ts";
import type { PeriodUsage, UsageBatch, UsageSelection } from "./usage.ts";

/**
 * Names the store of a gateway in Redis or Valkey. Throws a StoreError, without the URL in it, if that is not a URL of Redis.
 *
 * @example
 * const store = redisStore({ url: env("REDIS_URL"), prefix: "shop:" });
 */
export function redisStore(settings: RedisConfig): StoreSource {
  return {
    identity: JSON.stringify(settings),
    check: () => void urlOf(settings),
    open: (place) => openRedis(settings, place),
  };
}

/** Opens a store in Redis or Valkey. Rejects with a StoreError if it is not a URL of Redis. */
export async function openRedis(
  settings: RedisConfig,
  { warn, metrics }: Pick<StorePlace, "warn" | "metrics">,
): Promise<Store> {
  const store = new RedisStore({ ...settings, url: urlOf(settings) }, { warn, metrics });
  await store.connect(START_PATIENCE);
  return store;
}

/** Returns the URL. Throws a StoreError, without it, if it is not a URL of Redis. */
function urlOf({ url: given }: RedisConfig): string {
  const url = (typeof given === "string" ? given : readUrl(given.file)).trim();
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isRedis = /^rediss?:$/.test(parsed?.protocol ?? "") && parsed?.hostname !== "";
  if (!isRedis || !/^\/?\d*$/.test(parsed?.pathname ?? ""))
    throw new StoreError(
      "the URL of config.store.redis is not redis://HOST:PORT or rediss://HOST:PORT, with USER:PASSWORD@ and /DATABASE as needed",
    );
  return url;
}

function readUrl(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StoreError(`the URL of the store cannot be read: ${reasonOf(error)}`);
  }
}

/** Milliseconds that a start waits for the store. Without a response, the gateway serves what needs no store. */
const START_PATIENCE = 3000;

/** Milliseconds between questions whether the store is back. */
const PROBE_INTERVAL = 500;
/**
 * A store in Redis or Valkey. If it does not respond, calls fail at once until it does, so that requests do not wait for a
 * timeout each. Nothing is queued or sent again: a command that was sent twice would count twice.
 */
export class RedisStore implements Store {
  readonly isLocal = false;
  readonly buckets: Buckets = {
    take: (report) => this.#take(report),
    onLoss: (listener) => void this.#subscriptions.listen(this.#lossChannel, listener),
  };
  readonly responses: StoredResponses;
  readonly channels: Channels = {
    receive: (name, listener) =>
      this.#subscriptions.receive(
        this.#replicaChannel(name),
        (text) => text !== undefined && listener(text),
      ),
    send: async (name, text) => {
      await this.#send(() => this.#client.publish(this.#replicaChannel(name), text));
    },
  };
  readonly #prefix: string;
  readonly #client: Client;
  readonly #subscriptions: RedisSubscriptions;
  readonly #reports: Pick<StorePlace, "warn" | "metrics">;
  readonly #withdrawMetric: () => void;
  readonly #deadlines = new CommandDeadlines();
  /** Why the store is away; `undefined` if it responds. */
  #problem: string | undefined = "not connected yet";
  /** Whether the present problem was logged. */
  #isLogged = false;
  /** Identity of the server's process; empty if it is unknown or a cluster. */
  #server = "";
  #isClosed = false;
  #probe: NodeJS.Timeout | undefined;
  /** Why the last connection failed. */
  #lastError = "the connection was closed";

  constructor(settings: ReadConfig, reports: Pick<StorePlace, "warn" | "metrics">) {
    this.#prefix = settings.prefix;
    this.#reports = reports;
    this.#client = openClient(settings);
    this.responses = new RedisResponses(settings.prefix, {
      send: (command) => this.#send(() => command(this.#client)),
      run: (script, keys, values) => this.#run(script, keys, values),
    });
    this.#subscriptions = new RedisSubscriptions(settings, reports.warn);
    this.#withdrawMetric = reports.metrics.read(storeUp, () => [
      [[], this.#problem === undefined ? 1 : 0],
    ]);
    for (const client of [this.#client, this.#subscriptions.client])
      client.on("error", (error: Error) => {
        this.#lastError = reasonOf(error);
      });
    this.#client.on("ready", () => void this.#ask());
    this.#client.on("close", () => this.#away(this.#lastError));
  }

  /** Connects. Resolves when the store responds, or after this many milliseconds; it then connects in the background. */
  async connect(patience: number): Promise<void> {
    // Failures are reported by the events; both clients keep trying.
    const attempts = [this.#client, this.#subscriptions.client].map((client) => client.connect());
    const asked = Promise.allSettled(attempts).then(() => this.#ask());
    await this.#deadlines.limit(asked, patience).catch((error: unknown) => {
      this.#lastError = reasonOf(error);
    });
    if (this.#problem !== undefined) this.#away(this.#lastError);
  }

  get isWatching(): boolean {
    return this.#subscriptions.isActive && this.#problem === undefined;
  }

  async read(space: Space, id: string): Promise<string | undefined> {
    const value = await this.#send(() => this.#client.get(this.#key(space, id)));
    return value ?? undefined;
  }

  async list(space: Space): Promise<ReadonlyMap<string, string>> {
    const ids = (await this.#send(() => this.#client.smembers(this.#ids(space)))).sort();
    const found = new Map<string, string>();
    for (let from = 0; from < ids.length; from += BATCH) {
      const some = ids.slice(from, from + BATCH);
      const keys = some.map((id) => this.#key(space, id));
      const values = await this.#send(() => this.#client.mget(...keys));
      const expired: string[] = [];
      for (const [index, id] of some.entries()) {
        const value = values[index];
        if (typeof value === "string") found.set(id, value);
        else expired.push(id);
      }
      // A record that is created now would be lost from the list: the ids of expired ones go with the next change.
      if (expired.length > 0) await this.#forget(space, expired);
    }
    return found;
  }

  async replace(space: Space, id: string, { was, value, expires }: RecordChange): Promise<boolean> {
    const result = await this.#run(
      replaceScript,
      [this.#key(space, id), this.#ids(space)],
      [
        id,
        ...(was === undefined ? ["0", ""] : ["1", was]),
        ...(value === undefined ? ["0", ""] : ["1", value]),
        // As a duration: the clocks of gateway and store may differ.
        expires === undefined ? "" : String(Math.ceil(expires - Date.now())),
        this.#channel(space),
      ],
    );
    return result === 1;
  }

  async add(counts: readonly CounterUse[]): Promise<CountResult> {
    const result = await this.#run(
      addScript,
      counts.map(({ id, period }) => this.#counter(id, period)),
      counts.flatMap(({ period, amount, limit }) => [
        period,
        String(amount),
        limit === undefined ? "" : String(limit),
      ]),
    );
    const [granted, ...rest] = Array.isArray(result) ? result.map(Number) : [];
    if (granted === 1) return { isGranted: true, used: rest };
    const [refused = 0, resetsIn = 0] = rest;
    return { isGranted: false, refused, resetsIn };
  }

  async addUsage(batch: UsageBatch): Promise<void> {
    for (const { keys, values } of usageCommands(this.#prefix, batch))
      await this.#run(usageScript, keys, values);
  }

  async readUsage(selection: UsageSelection, each: (usage: PeriodUsage) => void): Promise<void> {
    const places = usagePlaces(this.#prefix, selection);
    for (let from = 0; from < places.length; from += USAGE_BATCH) {
      const some = places.slice(from, from + USAGE_BATCH);
      const found = await Promise.all(
        some.map(({ key }) => this.#send(() => this.#client.call("HGETALL", key))),
      );
      for (const [index, place] of some.entries()) readUsagePlace(place, found[index], each);
    }
  }

  onChange(space: Space, listener: ChannelListener): () => void {
    return this.#subscriptions.listen(this.#channel(space), listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#probe);
    this.#withdrawMetric();
    this.#client.disconnect();
    this.#subscriptions.client.disconnect();
  }

  get #lossChannel(): string {
    return `${this.#prefix}{limit}!`;
  }

  #replicaChannel(name: string): string {
    return `${this.#prefix}{replica}:${name}`;
  }

  async #take({ bucket, shape, ...report }: AccountReport): Promise<BucketState> {
    const { capacity, refill, window, isWhole } = shape;
    const { account, start, taken, acknowledged, used, gone, accounts, amount, share } = report;
    const amounts = [start, taken, acknowledged, used, gone, accounts, amount, share];
    const result = await this.#run(
      takeScript,
      [`${this.#prefix}{limit:${bucket}}`],
      [
        ...[String(capacity), String(refill), String(window), isWhole ? "1" : "0"],
        ...[account, ...amounts.map(String), report.isClosing ? "1" : "0"],
        ...[this.#server, this.#lossChannel, bucket],
      ],
    );
    const [granted = 0, left = 0, from = 0, endsIn = 0, sum = 0, closed = 0, open = 0, recovering] =
      Array.isArray(result) ? result.map(Number) : [];
    return {
      ...{ granted, left, start: from, endsIn, taken: sum, gone: closed, accounts: open },
      isRecovering: recovering === 1,
    };
  }

  async #forget(space: Space, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      // Only if it has no value: the change is refused if it has one now.
      await this.replace(space, id, { was: undefined, value: undefined });
    }
  }

  async #run(
    { text, sha }: RedisScript,
    keys: readonly string[],
    values: readonly (string | Buffer)[],
  ): Promise<unknown> {
    return this.#send(async () => {
      try {
        return await this.#client.evalsha(sha, keys.length, ...keys, ...values);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
        return this.#client.eval(text, keys.length, ...keys, ...values);
      }
    });
  }

  async #send<Result>(command: () => Promise<Result>): Promise<Result> {
    if (this.#problem !== undefined) throw new StoreError(this.#problem);
    try {
      return await this.#deadlines.limit(command());
    } catch (error) {
      // Commands in flight fail with the connection, whose error says why.
      const reason = isOfConnection(error) ? this.#lastError : reasonOf(error);
      this.#reports.metrics.counter(storeErrors).value += 1;
      // Redis refused this command alone (memory full, no permission); it responds to others.
      if (!isReply(error) || IS_UNUSABLE.test(reason)) this.#away(reason);
      throw new StoreError(reason);
    }
  }

  #away(problem: string): void {
    if (this.#isClosed) return;
    this.#problem = problem;
    if (!this.#isLogged) {
      this.#isLogged = true;
      this.#reports.warn(`the store does not respond: ${problem}`);
    }
    this.#probe ??= setTimeout(() => {
      this.#probe = undefined;
      void this.#ask();
    }, PROBE_INTERVAL).unref();
  }

  /** Asks whether the store responds. */
  async #ask(): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#deadlines.limit(this.#client.ping());
      this.#server = await this.#deadlines.limit(serverIdentity(this.#client));
    } catch (error) {
      if (this.#client.status === "ready") this.#lastError = reasonOf(error);
      this.#away(this.#lastError);
      return;
    }
    if (this.#isLogged) this.#reports.warn("the store responds again");
    this.#isLogged = false;
    this.#problem = undefined;
  }

  /** All keys of a space, or of the counters of one request, are on one node of a cluster: it hashes what is in braces. */
  #key(space: Space, id: string): string {
    return `${this.#prefix}{${space}}:${id}`;
  }

  #ids(space: Space): string {
    return `${this.#prefix}{${space}}`;
  }

  #channel(space: Space): string {
    return `${this.#prefix}{${space}}!`;
  }

  #counter(id: string, period: string): string {
    const [owner = "", ...rest] = id.split(":");
    return `${this.#prefix}{count:${owner}}:${rest.join(":")}:${period}`;
  }
}

/** Hashes of usage that are read at the same time. */
const USAGE_BATCH = 256;

/** Records that one command reads. */
const BATCH = 1000;
