import { randomUUID } from "node:crypto";
import type { TrialOutcome, TrialRequest } from "../../../runtime/trial/trial.ts";
import type { TrialGateway } from "../../../runtime/trial/try-request.ts";
import { type BundleOptions, bundleModules } from "../../4-emit/bundle.ts";
import { emitModules } from "../../4-emit/modules.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import { accessOf, policiesBefore, policiesMet } from "../../ir/access.ts";
import type { Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";

/** A compiled program that requests are sent through in this process: no port is open, no server is asked. */
export interface TrialProgram {
  readonly program: Program;
  /** Sends a request, several times where it says so; what came of the last. */
  readonly send: (request: TrialRequest, count: number) => Promise<TrialOutcome>;
  /** Ends what requests have opened. */
  readonly close: () => void;
}

/**
 * Compiles a program as a build does, but for what reaches outside the process. `servers` are asked where they are meant to
 * be, for as long as they need, with what the environment says; else nothing outside is.
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
      // Without a route a listener has responded, or nobody.
      if (!stateful.has(outcome.route ?? ANY_ROUTE)) return outcome;
      // A limit counts requests: none of another test is among them.
      current.close();
      current = await load(url);
      return outcome;
    },
    close: () => current.close(),
  };
}

const ENTRY = "trial.ts";

/** Milliseconds after which a request counts as one that gets no response: a server may have to be fetched first. */
const PATIENCE = { nothing: 5_000, servers: 120_000 } as const;

const entryText = (patience: number) => `import { openTrials } from "gwc/runtime/trial/try-request";
import { gateway } from "./main.ts";

const trials = openTrials(gateway, ${patience});

export { trials };
`;

/** What stands in for the world, below runtime/trial/stubs: by the modules of the runtime that reach out for it. */
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
  "process/startup-needs.ts": "startup-needs.ts",
  "process/startup-values.ts": "startup-values.ts",
  "process/watched-file.ts": "watched-file.ts",
};

const WORLD: BundleOptions["replaced"] = new Map(
  Object.entries(STAND_INS).map(([real, own]) => [real, `trial/stubs/${own}`]),
);

/** Requests come in without a port, and go out as they do. */
const PORTS: BundleOptions["replaced"] = new Map(
  [...WORLD].filter(([real]) => real === "gateway/http-port.ts"),
);

/** A gateway of its own each time: a module is evaluated once per URL. */
async function load(url: string): Promise<TrialGateway> {
  const loaded: unknown = await import(`${url}#${randomUUID()}`);
  // The entry exports it under this type.
  return (loaded as { readonly trials: TrialGateway }).trials;
}

/** Stands for the route of a request that has reached none: no route has this name. */
const ANY_ROUTE = "";

/** The names of the routes on which requests may be decided by those before them, and of none when there are some. */
function statefulRoutes(program: Program): ReadonlySet<string> {
  const found = servedRoutes(program).filter(({ route, listeners }) =>
    [...policiesMet(undefined, route), ...listeners.flatMap(policiesBefore)]
      .flatMap(accessOf)
      .some(({ kind }) => kind === "outside"),
  );
  return new Set(found.length === 0 ? [] : [ANY_ROUTE, ...found.map(({ route }) => route.name)]);
}
