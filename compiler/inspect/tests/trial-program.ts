import { randomUUID } from "node:crypto";
import type { TrialOutcome, TrialRequest } from "../../../runtime/trial/trial.ts";
import type { TrialGateway } from "../../../runtime/trial/try-request.ts";
import { type BundleOptions, bundleModules } from "../../4-emit/bundle.ts";
import { emitModules } from "../../4-emit/modules.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import { accessOf, policiesBefore, policiesMet } from "../../ir/access.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";

/** A compiled program that handles requests in this process, without open ports and calls to servers. */
export interface TrialProgram {
  readonly program: Program;
  /** Sends a request `count` times and returns the last outcome. */
  readonly send: (request: TrialRequest, count: number) => Promise<TrialOutcome>;
  /** Closes everything that requests opened. */
  readonly close: () => void;
}

/**
 * Compiles a program as a build does, except for modules that reach outside the process. With `servers`, real servers are
 * called, with a long timeout and the credentials of the environment; otherwise nothing outside is reached.
 */
export async function openTrialProgram(
  program: Program,
  files: readonly SourceFile[],
  reach: "nothing" | "servers" = "nothing",
): Promise<TrialProgram> {
  const modules = emitModules(program, "path", files);
  const entry = { path: ENTRY, text: entryText(PATIENCE[reach]), imports: [] };
  const info = { version: "", configDigest: "" };
  const { text } = await bundleModules([...modules, entry], info, {
    entry: ENTRY,
    replaced: reach === "servers" ? PORTS : WORLD,
  });
  const url = `data:text/javascript;base64,${Buffer.from(text).toString("base64")}`;
  const stateful = statefulRoutes(program);
  let current = await load(url);
  return {
    program,
    send: async (request, count) => {
      const outcome = await current.send(request, count);
      // Without a route, the listener responded or the connection was refused.
      if (!stateful.has(outcome.route ?? ANY_ROUTE)) return outcome;
      // Limits count requests, so each test starts with a fresh gateway.
      current.close();
      current = await load(url);
      return outcome;
    },
    close: () => current.close(),
  };
}

const ENTRY = "trial.ts";

/** Timeout for a response in milliseconds; with real servers it includes the time to download one. */
const PATIENCE = { nothing: 5_000, servers: 120_000 } as const;

const entryText = (patience: number) => `import { openTrials } from "gwc/runtime/trial/try-request";
import { gateway } from "./main.ts";

const trials = openTrials(gateway, ${patience});

export { trials };
`;

/** Stubs below runtime/trial/stubs, by the runtime module that they replace. */
export const STAND_INS: Readonly<Record<string, string>> = {
  "auth/credentials.ts": "credentials.ts",
  "backends/dynamic/tunnels.ts": "tunnels.ts",
  "auth/jwt/key-source.ts": "key-source.ts",
  "auth/jwt/remote-keys.ts": "key-source.ts",
  "auth/jwt/verifier.ts": "verifier.ts",
  "auth/oidc/client.ts": "oidc-client.ts",
  "auth/oidc/provider.ts": "login-provider.ts",
  "auth/password/verified-logins.ts": "verified-logins.ts",
  "gateway/http-port.ts": "http-port.ts",
  "grpc/node/grpc-connection.ts": "grpc-connection.ts",
  "http/upstream/node/connectors.ts": "connectors.ts",
  "http/upstream/node/http1-upstream.ts": "server.ts",
  "http/upstream/node/http2-upstream.ts": "server.ts",
  "http/upstream/node/negotiated-upstream.ts": "server.ts",
  "http/upstream/node/request-url.ts": "request-url.ts",
  "mcp/rules/tool-lock.ts": "tool-lock.ts",
  "mcp/shares.ts": "shares.ts",
  "mcp/transports/backend.ts": "mcp-targets.ts",
  "mcp/transports/process-groups.ts": "process-groups.ts",
  "mcp/transports/sse-transport.ts": "transports.ts",
  "mcp/transports/stdio-transport.ts": "transports.ts",
  "policies/api-key.ts": "api-key.ts",
  "policies/basic-auth.ts": "basic-auth.ts",
  "policies/custom/protect-language.ts": "protect-language.ts",
  "policies/custom/watchdog.ts": "watchdog.ts",
  "process/startup-needs.ts": "startup-needs.ts",
  "process/startup-values.ts": "startup-values.ts",
  "process/watched-file.ts": "watched-file.ts",
};

const WORLD: BundleOptions["replaced"] = new Map(
  Object.entries(STAND_INS).map(([real, own]) => [real, `trial/stubs/${own}`]),
);

/** Modules that are replaced in any gateway that runs in a process of its tests. */
const IN_PROCESS: ReadonlySet<string> = new Set([
  "gateway/http-port.ts",
  "policies/custom/protect-language.ts",
  "policies/custom/watchdog.ts",
]);

/** Replaces little more than the listening port, so that requests enter without one and servers are called as usual. */
const PORTS: BundleOptions["replaced"] = new Map(
  [...WORLD].filter(([real]) => IN_PROCESS.has(real)),
);

/** Loads a fresh gateway; a unique URL makes Node.js evaluate the module again. */
async function load(url: string): Promise<TrialGateway> {
  const loaded: unknown = await import(`${url}#${randomUUID()}`);
  // The generated entry module exports it with this type.
  return (loaded as { readonly trials: TrialGateway }).trials;
}

/** Key for requests without a route; no route has this name. */
const ANY_ROUTE = "";

/** Returns the names of routes with state, on which earlier requests affect later ones, and ANY_ROUTE if there are any. */
function statefulRoutes(program: Program): ReadonlySet<string> {
  const found = servedRoutes(program).filter(({ route, listeners }) =>
    [...policiesMet(undefined, route), ...listeners.flatMap(policiesBefore)]
      .flatMap(accessOf)
      .some((check) => check.kind === "outside" && check.refusal === undefined),
  );
  return new Set(found.length === 0 ? [] : [ANY_ROUTE, ...found.map(({ route }) => route.name)]);
}
