import path from "node:path";
import { pythonFor } from "./python.ts";
import { root } from "./root.ts";
import { seenFile } from "./seen-file.ts";
import { TestProcess } from "./test-process.ts";

/** A message that a service got. */
export interface SeenMessage {
  readonly call: "Check" | "ShouldRateLimit" | "Process";
  /** The same for all messages of one call. */
  readonly id: number;
  /** Protobuf's JSON, with the names of the fields as they are. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes, which each test knows.
  readonly message: any;
  readonly metadata: Readonly<Record<string, string>>;
  /** Seconds that the client gave the call. */
  readonly timeout?: number;
}

/** The services of Envoy's protocols: authorization, limits, processing (envoy-services.py says what they respond). */
export interface EnvoyServices {
  readonly port: number;
  readonly url: string;
  /** The requests that they received, in order, including all that they responded to. */
  seen(): readonly SeenMessage[];
  /** The responses that were not waited for to their end, by the name of their message. */
  cancelled(): readonly string[];
  stop(): Promise<unknown>;
}

/** Starts them on grpcio, gRPC's own implementation in C; with TLS when there is a key and a certificate (files). */
export async function startEnvoyServices(
  port = 0,
  tls?: { readonly key: string; readonly cert: string },
): Promise<EnvoyServices> {
  const python = await pythonFor("tests");
  const script = path.join(root, "test", "harness", "envoy-services.py");
  const files = tls === undefined ? [] : [tls.key, tls.cert];
  const seen = seenFile<SeenMessage>();
  const running = new TestProcess(python, [script, String(port), ...files], { env: seen.env });
  const [, bound] = await running.seen(/^port (\d+)$/m);
  return {
    port: Number(bound),
    url: `http://127.0.0.1:${bound}`,
    seen: seen.read,
    cancelled: () =>
      [...running.stdout.matchAll(/^cancelled (\w+)$/gm)].map(([, name = ""]) => name),
    stop: () => running.stop("SIGKILL"),
  };
}
