import { connect, createServer, type Socket } from "node:net";
import { setTimeout as later } from "node:timers/promises";
import { listen } from "./listen.ts";

/** A way to a port of this machine. */
export interface SlowWay {
  readonly port: number;
  /** Milliseconds that each response takes longer. */
  delay: number;
  /** Closes its connections and refuses others, until it is mended. */
  cut(): void;
  mend(): void;
}

/** Opens a way to a port that can be slow, or cut. */
export async function startSlowWay(to: number, delay = 0): Promise<SlowWay> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    for (const each of [client, upstream]) {
      open.add(each);
      each.on("error", () => {});
      each.on("close", () => {
        open.delete(each);
        client.destroy();
        upstream.destroy();
      });
    }
    if (isCut) client.destroy();
    client.on("data", (bytes: Buffer) => upstream.write(bytes));
    let sent = Promise.resolve();
    upstream.on("data", (bytes: Buffer) => {
      const waited = later(way.delay);
      sent = sent.then(async () => {
        await waited;
        client.write(bytes);
      });
    });
  });
  const way: SlowWay = {
    port: await listen(server),
    delay,
    cut: () => {
      isCut = true;
      for (const each of open) each.destroy();
    },
    mend: () => {
      isCut = false;
    },
  };
  return way;
}
