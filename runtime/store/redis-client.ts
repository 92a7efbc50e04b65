import { Cluster, Redis, type RedisOptions } from "iovalkey";

/** Address of Redis or Valkey, and the names of the gateway's keys in it. */
export interface RedisConfig {
  /** `redis://` or, for TLS, `rediss://`, with user and password; or the file that contains it. */
  readonly url: string | { readonly file: string };
  /** Prefix of all keys and channels. It has no "{", so that no prefix with its keys is the beginning of another's keys. */
  readonly prefix: string;
  /** Whether the server is a node of a Redis Cluster. */
  readonly isCluster?: boolean;
  /** Name of the primary, if the server is a Sentinel; absent if it is the database. */
  readonly sentinelName?: string;
}

/**
 * Milliseconds after which a command fails that the client sent by itself, as when it connects. Commands of the gateway have a
 * shorter deadline, which a pause of the process does not shorten.
 */
const COMMAND_TIMEOUT = 10_000;
const CONNECT_TIMEOUT = 5000;
/** Maximum milliseconds between attempts to connect. */
const MAX_RETRY_DELAY = 2000;

/** A connection to a server, or to the servers of a cluster. */
export type Client = Redis | Cluster;

/** Settings with the URL itself. */
export type ReadConfig = RedisConfig & { readonly url: string };

/** Creates a client that connects when it is first used. */
export function openClient({ url, isCluster, sentinelName }: ReadConfig): Client {
  const { hostname, port, username, password, protocol, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const credentials = {
    ...(username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== "" && { password: decodeURIComponent(password) }),
  };
  const tls = protocol === "rediss:" ? { tls: {} } : {};
  const common: RedisOptions = {
    ...credentials,
    ...tls,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
    commandTimeout: COMMAND_TIMEOUT,
    connectTimeout: CONNECT_TIMEOUT,
    keepAlive: 10_000,
    connectionName: "gwc",
    // After a failover, the old primary refuses to write.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
    retryStrategy: retryDelay,
  };
  const server = { host, port: port === "" ? 6379 : Number(port) };
  if (isCluster === true)
    return new Cluster([server], {
      lazyConnect: true,
      enableOfflineQueue: false,
      redisOptions: common,
      clusterRetryStrategy: retryDelay,
    });
  const db = Number(pathname.slice(1) || 0);
  if (sentinelName === undefined) return new Redis({ ...common, ...server, db });
  const sentinels = [{ host, port: port === "" ? 26379 : Number(port) }];
  return new Redis({
    ...common,
    db,
    sentinels,
    name: sentinelName,
    sentinelRetryStrategy: retryDelay,
    ...(protocol === "rediss:" && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  });
}

/**
 * Returns the identity of the server's process, which changes with a restart and in a failover. Empty if it is a cluster, where each
 * node has its own, or if the user may not ask.
 */
export async function serverIdentity(client: Client): Promise<string> {
  if (client instanceof Cluster) return "";
  const info = await client.info("server").catch((error: unknown) => {
    if (isReply(error)) return "";
    throw error;
  });
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? "";
}

/** Returns the milliseconds until the next attempt. Replicas must not connect all at once when the store is back. */
function retryDelay(attempts: number): number {
  const delay = Math.min(MAX_RETRY_DELAY, 50 * 2 ** Math.min(attempts, 10));
  return Math.round(delay * (0.5 + Math.random() / 2));
}

/** Errors of a server that serves nobody, or not with this password. */
export const IS_UNUSABLE = /^(?:NOAUTH|WRONGPASS|LOADING|MASTERDOWN|CLUSTERDOWN|READONLY)\b/;

/** Returns whether Redis itself responded with an error. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}

/** Returns whether a command failed because there is no connection. */
export function isOfConnection(error: unknown): boolean {
  return error instanceof Error && error.name === "MaxRetriesPerRequestError";
}

/** Returns the reason without command and arguments, which the client attaches to errors as properties. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : "unknown error";
  return text.split("\n")[0]?.slice(0, 200) ?? text;
}
