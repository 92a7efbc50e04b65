import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { Agent } from "../agent/agent.ts";
import { fileProblem } from "../host.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc agent`: a data plane, which serves what its controller sends until a signal ends it. */
export const agent: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "The pods of a Gateway run it: it takes generated code and the data that the code reads from `gwc controller`, and\n" +
    "swaps a change in without dropping a connection. What it got last is kept on disk and served without a controller.\n" +
    "Variables: XDS_ADDRESS (http or https URL of the controller), NAMESPACE and GATEWAY, XDS_TOKEN_FILE, XDS_ROOT_CA\n" +
    "(file of the authority of its certificate), GWC_SIGNER (the public key that code has to be signed with, Ed25519 in\n" +
    "base64; without it any code of the controller is run), GWC_AGENT_DIR (default /var/lib/gwc/agent).",
  options: [],
  examples: ["XDS_ADDRESS=https://gwc.gwc-system:9978 NAMESPACE=default GATEWAY=front gwc agent"],
  work: follow,
};

/** Where the pods of a Gateway have their token for the controller. */
const TOKEN_FILE = "/var/run/secrets/xds-tokens/xds-token";
/** Milliseconds to connect. */
const CONNECT_TIME = 10_000;
/** A controller that is gone without a word is noticed within half a minute. */
const KEEP_ALIVE = { time: 15_000, interval: 5_000, retries: 3 };

async function follow(_: Arguments, { host, print }: CommandContext): Promise<CommandResult> {
  const [address, namespace, name] = ["XDS_ADDRESS", "NAMESPACE", "GATEWAY"].map((each) =>
    host.variable(each),
  );
  if (address === undefined || namespace === undefined || name === undefined) {
    const stderr =
      "error: XDS_ADDRESS, NAMESPACE and GATEWAY say what to serve, and one is not set\n";
    return { exitCode: 1, stderr };
  }
  const tokenFile = host.variable("XDS_TOKEN_FILE") ?? TOKEN_FILE;
  const authority = host.variable("XDS_ROOT_CA");
  const log = (level: string, message: string) =>
    print(`${new Date().toISOString()} ${level} ${message}\n`);
  const { endOnSignal, logUncaughtErrors } = await import("gwc/runtime/gateway/start");
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
        // It is renewed on disk, and each connection reads it again.
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
        logUncaughtErrors();
      },
    });
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    return {
      exitCode: 1,
      stderr: `error: what the controller sends can't be kept: ${fileProblem(error)}\n`,
    };
  }
  return new Promise(() => {});
}
