import { fileURLToPath } from "node:url";
import { freePort } from "../harness/free-port.ts";
import { type Case, type Cost, compare } from "./compare.ts";
import { type Pace, start } from "./duel.ts";

/** How many times as long a request may take at most, and its CPU, with a collector that is down. */
export const DEAD_COLLECTOR = 1.1;

/**
 * Measures the cost of a traced request while the collector is down for the whole run, compared with an untraced one: a
 * collector that refuses connections, and one whose packets vanish. `host`: the upstream's `host:port`.
 */
export async function measureDeadCollector(host: string, pace: Pace): Promise<readonly Cost[]> {
  const script = fileURLToPath(new URL("../harness/never-accepts.ts", import.meta.url));
  const blackHole = await start({ script, environment: {} }, "");
  const plain: Case = {
    name: "untraced",
    routes: [{ name: "api", backends: [{ host }] }],
    requests: ["GET /items/1?q=x HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: load\r\n\r\n"],
  };
  const traced = (name: string, port: number, protocol: "http" | "grpc"): Case => {
    const tracing = { host: `127.0.0.1:${port}`, protocol, randomSampling: true };
    return { ...plain, name, file: { frontendPolicies: { tracing } } };
  };
  const closed = await freePort();
  const cases = [
    plain,
    { ...plain, name: "untraced again", gateway: plain.name },
    traced("refused", closed, "http"),
    traced("refused, gRPC", closed, "grpc"),
    traced("black hole", blackHole.port, "http"),
    traced("black hole, gRPC", blackHole.port, "grpc"),
  ];
  try {
    return await compare(cases, `http://${host}`, pace);
  } finally {
    blackHole.process.kill("SIGKILL");
  }
}
