import path from "node:path";
import { Redis } from "iovalkey";
import { freePort } from "./free-port.ts";
import { type RedisProgram, RedisServer } from "./redis.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

/** A database with a replica, and a Sentinel that replaces it by the replica. */
export interface WatchedRedis {
  /** URL of the Sentinel, for which the database is `shop`. */
  readonly url: string;
  readonly replica: RedisServer;
  /** Kills the database that is the primary now: on a busy machine, the Sentinel may already have replaced the first one. */
  killPrimary(): Promise<void>;
}

/** Starts a database, its replica and a Sentinel. */
export async function startSentinel(server: RedisProgram = "redis-server"): Promise<WatchedRedis> {
  const primary = await RedisServer.start({ server });
  const replica = await RedisServer.start({
    server,
    options: ["--replicaof", "127.0.0.1", String(primary.port)],
  });
  const port = await freePort();
  const config = [
    `port ${port}`,
    "bind 127.0.0.1",
    `sentinel monitor shop 127.0.0.1 ${primary.port} 1`,
    "sentinel down-after-milliseconds shop 1000",
    "sentinel failover-timeout shop 3000",
  ].join("\n");
  const file = path.join(temporaryFolder({ "sentinel.conf": config }), "sentinel.conf");
  const sentinel = new TestProcess(program(server), [file, "--sentinel"]);
  await sentinel.seen(new RegExp(`\\+slave slave 127\\.0\\.0\\.1:${replica.port}`));
  const killPrimary = async () => {
    const client = new Redis(port);
    const [, current] = (await client.call(
      "SENTINEL",
      "GET-MASTER-ADDR-BY-NAME",
      "shop",
    )) as string[];
    client.disconnect();
    await [primary, replica].find((each) => String(each.port) === current)?.kill();
  };
  return { url: `redis://127.0.0.1:${port}`, replica, killPrimary };
}
