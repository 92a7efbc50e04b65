import type { TrialRequest } from "../../runtime/trial/trial.ts";
import type { RandomSource } from "./random-rules.ts";

/** A gateway file as a value that edits change. */
export interface RandomGateway {
  readonly binds: readonly RandomBind[];
}

interface RandomBind {
  readonly port: number;
  readonly listeners: readonly RandomListener[];
}

interface RandomListener {
  readonly hostname?: string;
  readonly policies?: object;
  readonly routes: readonly object[];
}

/** The ports that gateways have. */
export const PORTS = [8080, 8081];
/** Hosts that requests are for. */
export const HOSTS = ["a.example.com", "b.example.com", "c.other.test"];
const PATHS = ["/", "/a", "/a/b", "/a/bc", "/b", "/b/1", "/b/x", "/c.json"];
const ORIGINS = ["https://one.example", "https://two.example", "https://three.example"];
const SUBJECTS = ["alice", "bob", "svc-ci"];
const ROLES = ["admin", "dev"];

/** Ports, listeners, routes and policies such as people write. */
export function randomGateway(random: RandomSource): RandomGateway {
  return { binds: PORTS.slice(0, 1 + random.below(2)).map((port) => randomBind(port, random)) };
}

function randomBind(port: number, random: RandomSource): RandomBind {
  const hosts = random.pick([
    [""],
    ["", "a.example.com"],
    ["*.example.com"],
    ["", "*.example.com"],
  ]);
  return { port, listeners: hosts.map((host) => randomListener(host, random)) };
}

function randomListener(hostname: string, random: RandomSource): RandomListener {
  return {
    ...(hostname !== "" && { hostname }),
    ...(random.chance(0.3) && { policies: randomListenerPolicies(random) }),
    routes: Array.from({ length: 1 + random.below(3) }, () => randomRoute(random)),
  };
}

/** Policies before routing: requests that pass them are judged by the route again. */
function randomListenerPolicies(random: RandomSource): object {
  const login = random.chance(0.3) ? { jwtAuth: randomLogin(random) } : {};
  return {
    ...(random.chance(0.4) && { cors: randomCors(random) }),
    ...login,
    ...(random.chance(0.4) && {
      authorization: { rules: randomRules(random, "jwtAuth" in login) },
    }),
    ...(random.chance(0.1) && { directResponse: { status: random.pick([200, 410]) } }),
  };
}

function randomRoute(random: RandomSource): object {
  const policies = {
    ...(random.chance(0.35) && { cors: randomCors(random) }),
    ...(random.chance(0.5) && { jwtAuth: randomLogin(random) }),
    ...(random.chance(0.45) && { authorization: { rules: randomRules(random) } }),
    ...(random.chance(0.15) && {
      responseHeaderModifier: { set: { "x-shown": random.pick(["a", "b"]) } },
    }),
    ...(random.chance(0.15) && { directResponse: { status: random.pick([200, 410, 418]) } }),
    ...(random.chance(0.1) && { urlRewrite: { path: { prefix: random.pick(["/", "/v2"]) } } }),
  };
  const hostnames = random.pick([[], [], ["a.example.com"], ["b.example.com"]]);
  const isAnswered = "directResponse" in policies;
  const { urlRewrite: _, ...rest } = policies;
  return {
    ...(hostnames.length > 0 && random.chance(0.5) && { hostnames }),
    matches: [randomMatch(random)],
    policies: isAnswered ? rest : policies,
    ...(!isAnswered && { backends: [{ host: `10.0.0.${1 + random.below(3)}:80` }] }),
  };
}

function randomMatch(random: RandomSource): object {
  const path = random.pick([
    ...["/", "/", "/a", "/a/b", "/b"].map((pathPrefix) => ({ pathPrefix })),
    ...["/a", "/b/1"].map((exact) => ({ exact })),
  ]);
  const header = { name: "x-env", value: random.pick([{ exact: "dev" }, { regex: "d.*" }]) };
  return {
    path,
    ...(random.chance(0.2) && { method: random.pick(["GET", "POST"]) }),
    ...(random.chance(0.2) && { headers: [header] }),
  };
}

function randomCors(random: RandomSource): object {
  return {
    allowOrigins: random.pick([["*"], [random.pick(ORIGINS)], ORIGINS.slice(0, 2)]),
    allowMethods: random.pick([["GET"], ["GET", "POST"]]),
    ...(random.chance(0.3) && { allowHeaders: ["x-env"] }),
    ...(random.chance(0.2) && { allowCredentials: true, allowOrigins: [random.pick(ORIGINS)] }),
  };
}

function randomLogin(random: RandomSource): object {
  return {
    mode: random.pick(["strict", "strict", "optional", "permissive"]),
    issuer: random.pick(["https://one.issuer", "https://two.issuer"]),
    audiences: [random.pick(["a", "b"])],
    jwks: { file: "jwks.json" },
  };
}

function randomRules(random: RandomSource, hasLogin = true): readonly object[] {
  const ofClaims = [
    `jwt.sub == "${random.pick(SUBJECTS)}"`,
    `"${random.pick(ROLES)}" in jwt.roles`,
    `jwt.sub.startsWith("svc-") || request.method == "GET"`,
  ];
  return Array.from({ length: 1 + random.below(3) }, () => ({
    [random.pick(["allow", "allow", "deny", "require"])]: random.pick([
      ...(hasLogin ? ofClaims : []),
      `request.method == "${random.pick(["GET", "POST"])}"`,
      `request.path.startsWith("${random.pick(["/a", "/b"])}")`,
      `request.headers["x-env"] == "dev"`,
      `cidr("10.0.0.0/8").containsIP(source.address)`,
    ]),
  }));
}

/** A gateway after one or two edits, each in one place. */
export function editedGateway(gateway: RandomGateway, random: RandomSource): RandomGateway {
  const once = edited(gateway, random);
  return random.chance(0.4) ? edited(once, random) : once;
}

function edited({ binds }: RandomGateway, random: RandomSource): RandomGateway {
  const share = random.next();
  if (share < 0.08) {
    const free = PORTS.find((port) => binds.every((each) => each.port !== port));
    if (free !== undefined) return { binds: [...binds, randomBind(free, random)] };
    return { binds: binds.slice(0, 1) };
  }
  const at = random.below(binds.length);
  return {
    binds: binds.map((bind, index) => (index === at ? editedBind(bind, share, random) : bind)),
  };
}

function editedBind(bind: RandomBind, share: number, random: RandomSource): RandomBind {
  const { listeners } = bind;
  const at = random.below(listeners.length);
  const [listener] = listeners.slice(at);
  if (listener === undefined) return bind;
  if (share < 0.16) {
    const other = listener.hostname === undefined ? "c.other.test" : undefined;
    const isTaken = listeners.some(({ hostname }) => hostname === other);
    const { hostname: _, ...rest } = listener;
    const changed = other === undefined ? rest : { ...rest, hostname: other };
    return isTaken ? bind : { ...bind, listeners: listeners.with(at, changed) };
  }
  if (share < 0.22) {
    const { policies, ...rest } = listener;
    const changed =
      policies === undefined || random.chance(0.5)
        ? { ...rest, policies: randomListenerPolicies(random) }
        : rest;
    return { ...bind, listeners: listeners.with(at, changed) };
  }
  const { routes } = listener;
  const route = random.below(routes.length);
  const replaced = (next: readonly object[]) => ({
    ...bind,
    listeners: listeners.with(at, { ...listener, routes: next }),
  });
  if (share < 0.32) return replaced([...routes, randomRoute(random)]);
  if (share < 0.4 && routes.length > 1) return replaced(routes.toSpliced(route, 1));
  const old = Object(routes[route]);
  const fresh = Object(randomRoute(random));
  if (share < 0.52) return replaced(routes.with(route, { ...old, matches: fresh.matches }));
  // One policy, the backend, or all of both.
  if (share < 0.62) return replaced(routes.with(route, { ...fresh, matches: old.matches }));
  const kinds = ["cors", "jwtAuth", "authorization", "authorization", "timeout"] as const;
  const kind = random.pick(kinds);
  const made = {
    cors: randomCors,
    jwtAuth: randomLogin,
    authorization: () => ({ rules: randomRules(random) }),
    timeout: () => ({ requestTimeout: `${10 + random.below(3)}s` }),
  }[kind](random);
  const { [kind]: lost, ...rest } = Object(old.policies);
  const isLost = lost !== undefined && random.chance(0.4);
  return replaced(
    routes.with(route, { ...old, policies: isLost ? rest : { ...rest, [kind]: made } }),
  );
}

/** A request to one of the ports, with or without a token. */
export function randomTrial(random: RandomSource): TrialRequest {
  const isPreflight = random.chance(0.12);
  const origin = random.chance(0.4) || isPreflight ? { origin: random.pick(ORIGINS) } : {};
  const asks = isPreflight ? { "access-control-request-method": random.pick(["GET", "POST"]) } : {};
  const env = random.pick(["", "", "dev", "prod", "d"]);
  const roles = ROLES.filter(() => random.chance(0.5));
  const jwt = { sub: random.pick(SUBJECTS), ...(random.chance(0.8) && { roles }) };
  return {
    port: random.pick(PORTS),
    isTls: false,
    method: isPreflight ? "OPTIONS" : random.pick(["GET", "GET", "POST", "PUT"]),
    target: random.pick(PATHS),
    headers: { host: random.pick(HOSTS), ...(env !== "" && { "x-env": env }), ...origin, ...asks },
    body: undefined,
    message: undefined,
    address: random.pick(["10.1.2.3", "8.8.8.8"]),
    identities: random.chance(0.6) ? { jwt } : {},
    servers: {},
    response: { status: 200, headers: {}, body: "" },
  };
}
