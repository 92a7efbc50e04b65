import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { root } from "./root.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";

/** The Go module that names the version of the service. */
const source = path.join(root, "test", "policies", "limit-service");

/**
 * Starts Envoy's rate limit service with a Redis of its own (Debian's redis-server); `rules` is the YAML of one domain.
 * Its first build takes minutes, and needs Go and its module proxy. Gives its URL.
 */
export async function startLimitService(rules: string): Promise<string> {
  const program = await built();
  const [redisPort, httpPort, grpcPort, debugPort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const redis = new TestProcess("redis-server", [
    ...["--port", String(redisPort), "--bind", "127.0.0.1"],
    ...["--save", "", "--appendonly", "no"],
  ]);
  await redis.seen(/Ready to accept connections/);
  const service = new TestProcess(program, [], {
    env: {
      BACKEND_TYPE: "redis",
      REDIS_SOCKET_TYPE: "tcp",
      REDIS_TYPE: "SINGLE",
      REDIS_URL: `127.0.0.1:${redisPort}`,
      USE_STATSD: "false",
      CONFIG_TYPE: "FILE",
      RUNTIME_ROOT: temporaryFolder({ "limits/rules.yaml": rules }),
      RUNTIME_SUBDIRECTORY: "",
      RUNTIME_APPDIRECTORY: "limits",
      RUNTIME_IGNOREDOTFILES: "true",
      RUNTIME_WATCH_ROOT: "false",
      HOST: "127.0.0.1",
      PORT: String(httpPort),
      GRPC_HOST: "127.0.0.1",
      GRPC_PORT: String(grpcPort),
      DEBUG_HOST: "127.0.0.1",
      DEBUG_PORT: String(debugPort),
    },
  });
  await eventually(
    () =>
      fetch(`http://127.0.0.1:${httpPort}/healthcheck`).then(
        ({ ok }) => ok || null,
        () => null,
      ),
    () => `the limit service: ${service.output}`,
  );
  return `http://127.0.0.1:${grpcPort}`;
}

/** The program of the version that the module names: it is built once and kept for later runs. */
async function built(): Promise<string> {
  const module = readFileSync(path.join(source, "go.mod"), "utf8");
  const key = createHash("sha256").update(module).digest("hex").slice(0, 16);
  const program = path.join(tmpdir(), "gwc-go", key, "limit-service");
  if (existsSync(program)) return program;
  mkdirSync(path.dirname(program), { recursive: true });
  const main = "github.com/envoyproxy/ratelimit/src/service_cmd";
  const env = { ...process.env, GOFLAGS: "-p=1" };
  await promisify(execFile)("go", ["build", "-o", program, main], { cwd: source, env });
  return program;
}
