import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { Agent } from "../agent/agent.ts";
import { fileProblem } from "../host.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc agent`: a data plane that serves the code its controller sends, until a signal ends it. */
export const agent: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "Runs in the pods of a Gateway. Receives generated code and its data from `gwc controller`, and swaps in changes without dropping a connection. " +
    "The last version is persisted, so the agent also starts while the controller is down.\n" +
    "Environment variables:\n" +
    "  XDS_ADDRESS     URL of the controller (http or https)\n" +
    "  NAMESPACE       namespace of the Gateway\n" +
    "  GATEWAY         name of the Gateway\n" +
    "  XDS_TOKEN_FILE  token for the controller\n" +
    "  XDS_ROOT_CA     file with the CA of the controller's certificate\n" +
    "  GWC_SIGNER      Ed25519 public key (base64) that code must be signed with;\n" +
    "                  without it, any code of the controller is run\n" +
    "  GWC_AGENT_DIR   folder to persist to (default: /var/lib/gwc/agent)",
  options: [],
  examples: ["XDS_ADDRESS=https://gwc:9978 NAMESPACE=default GATEWAY=front gwc agent"],
  work: follow,
};

/** Default path of the token for the controller in the pods of a Gateway. */
const TOKEN_FILE = "/var/run/secrets/xds-tokens/xds-token";
/** Timeout for connecting, in milliseconds. */
const CONNECT_TIME = 10_000;
/** Detects a controller that vanished without closing the connection within 30 seconds. */
const KEEP_ALIVE = { time: 15_000, interval: 5_000, retries: 3 };

async function follow(_: Arguments, { host, print }: CommandContext): Promise<CommandResult> {
  const [address, namespace, name] = ["XDS_ADDRESS", "NAMESPACE", "GATEWAY"].map((each) =>
    host.variable(each),
  );
  if (address === undefined || namespace === undefined || name === undefined) {
    const stderr = "error: XDS_ADDRESS, NAMESPACE and GATEWAY must be set\n";
    return { exitCode: 1, stderr };
  }
  const tokenFile = host.variable("XDS_TOKEN_FILE") ?? TOKEN_FILE;
  const authority = host.variable("XDS_ROOT_CA");
  const log = (level: string, message: string) =>
    print(`${new Date().toISOString()} ${level} ${message}\n`);
  const { endOnSignal, logUncaughtErrors } = await import("gwc/runtime/gateway/start");
  const { lateErrorText } = await import("gwc/runtime/policies/custom/policy-errors");
  let isServing = false;
  const end = () => process.exit(0);
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  try {
    await Agent.open({
      controller: {
        url: address,
        connectTimeout: CONNECT_TIME,
        keepAlive: KEEP_ALIVE,
        ...(authority === undefined
          ? {}
          : { tls: { authorities: [authority], verification: "full" } }),
        // Kubernetes renews the token on disk, so each connection reads it again.
        credential: ({ headers }) => {
          headers.push("authorization", `Bearer ${readFileSync(tokenFile, "utf8").trim()}`);
        },
      },
      gateway: `${namespace}/${name}`,
      node: `${host.variable("POD_NAME") ?? hostname()}.${namespace}`,
      signer: host.variable("GWC_SIGNER"),
      folder: host.variable("GWC_AGENT_DIR") ?? "/var/lib/gwc/agent",
      log,
      serving: (running) => {
        if (isServing) return;
        isServing = true;
        process.off("SIGTERM", end);
        process.off("SIGINT", end);
        endOnSignal(running, ["SIGTERM", "SIGINT"]);
        logUncaughtErrors({ lateErrorText });
      },
    });
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    return {
      exitCode: 1,
      stderr: `error: cannot persist what the controller sends: ${fileProblem(error)}\n`,
    };
  }
  return new Promise(() => {});
}
