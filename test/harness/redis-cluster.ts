import { Redis } from "iovalkey";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { type RedisProgram, RedisServer } from "./redis.ts";

/** Slots of a Redis Cluster. */
const SLOTS = 16_384;

/** Starts a cluster of three primaries. Returns the URL of one of them. */
export async function startRedisCluster(server?: RedisProgram): Promise<string> {
  const servers = await Promise.all(
    [1, 2, 3].map(async () => {
      // By default it is 10,000 above the port of clients, where another program may listen, or where no port is.
      const busPort = await freePort();
      const options = ["--cluster-enabled", "yes", "--cluster-port", String(busPort)];
      const { url, port } = await RedisServer.start({ options, ...(server && { server }) });
      return { url, port, busPort };
    }),
  );
  const nodes = servers.map(({ url }) => new Redis(url));
  try {
    const share = Math.ceil(SLOTS / nodes.length);
    for (const [index, node] of nodes.entries()) {
      const last = Math.min((index + 1) * share, SLOTS) - 1;
      await node.call("CLUSTER", "ADDSLOTSRANGE", index * share, last);
      // Epochs of its own spare a cluster the conflict of three nodes that begin alike.
      await node.call("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
    }
    for (const { port, busPort } of servers.slice(1))
      await nodes[0]?.call("CLUSTER", "MEET", "127.0.0.1", port, busPort);
    for (const node of nodes)
      await eventually(async () => {
        const state = String(await node.call("CLUSTER", "INFO"));
        const known = String(await node.call("CLUSTER", "NODES"))
          .trim()
          .split("\n");
        const isWhole = state.includes("cluster_state:ok") && known.length === nodes.length;
        return isWhole && !known.some((line) => line.includes("handshake")) ? true : null;
      }, "the cluster");
    return servers[0]?.url ?? "";
  } finally {
    for (const node of nodes) node.disconnect();
  }
}
