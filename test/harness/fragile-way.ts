import { connect, createServer, type Socket } from "node:net";
import { listen } from "./listen.ts";

/** A way to a port of this machine. */
export interface FragileWay {
  readonly port: number;
  /** Stops data in both directions of open connections without closing them; new connections are not affected. */
  swallow(): void;
}

/** Opens a way to a port, on which connections can be lost as behind a router that forgets them. */
export async function startFragileWay(to: number): Promise<FragileWay> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on("error", () => {});
      from.on("data", (bytes: Buffer) => {
        if (open.has(from)) other.write(bytes);
      });
      from.on("close", () => {
        if (open.delete(from)) other.destroy();
      });
    }
  });
  return { port: await listen(server), swallow: () => open.clear() };
}
