import type { RandomSource } from "../../inspect/random-rules.ts";

const gatewayApi = "gateway.networking.k8s.io";

/** A manifest with its path: one of few names, with one of few contents, some of which have mistakes. */
export function randomManifest(random: RandomSource): readonly [path: string, object: object] {
  const namespace = random.pick(["a", "b"]);
  switch (random.below(15)) {
    case 8:
      return manifest("gwc.dev/v1alpha1", "GatewayBackend", random.pick(["b", "c"]), namespace, {
        ...randomBackend(random),
      });
    case 9:
      return manifest(`${gatewayApi}/v1beta1`, "ReferenceGrant", "g", namespace, {
        from: [{ group: gatewayApi, kind: "HTTPRoute", namespace: random.pick(["a", "b"]) }],
        to: [{ group: "", kind: random.pick(["Service", "Secret"]) }],
      });
    case 10: {
      const labels = { team: random.pick(["red", "blue"]) };
      const metadata = { name: namespace, labels };
      return [`/Namespace/${namespace}`, { apiVersion: "v1", kind: "Namespace", metadata }];
    }
    case 11:
      return manifest(`${gatewayApi}/v1`, "ListenerSet", "set", namespace, {
        parentRef: { name: "front", namespace: "a" },
        listeners: [{ name: "own", port: random.pick([8081, 80]), protocol: "HTTP" }],
      });
    case 12: {
      // A route that others delegate to.
      const rules = randomRouteRules(random);
      return manifest(`${gatewayApi}/v1`, "HTTPRoute", "child", namespace, { rules });
    }
    case 13:
      return manifest("gwc.dev/v1alpha1", "GatewayModel", random.pick(["m", "n"]), "a", {
        parentRefs: [{ name: random.pick(["front", "back"]) }],
        match: { model: random.pick(["gpt", "claude"]) },
        provider: "OpenAI",
        policies: {
          headers: { request: { set: [{ name: "x-a", value: random.pick(["a", "b"]) }] } },
        },
      });
    case 0:
      return manifest(`${gatewayApi}/v1`, "Gateway", random.pick(["front", "back"]), "a", {
        gatewayClassName: "gwc",
        allowedListeners: { namespaces: { from: random.pick(["All", "Same"]) } },
        listeners: randomListeners(random),
      });
    case 1: {
      const appProtocol = random.pick(["http", "kubernetes.io/h2c"]);
      const ports = [{ port: random.pick([80, 80, 81]), appProtocol }];
      return manifest("v1", "Service", random.pick(["one", "two"]), namespace, { ports });
    }
    case 2:
      return manifest(
        "gwc.dev/v1alpha1",
        "GatewayPolicy",
        random.pick(["p", "q"]),
        namespace,
        randomPolicy(random),
      );
    default: {
      const parents = [
        { name: "front", namespace: "a" },
        { name: "back", namespace: "a" },
      ];
      const hosts = random.pick([[], ["a.example.com"], ["b.example.com", "a.example.com"]]);
      // The identifiers of some are alike.
      const name = random.pick(["shop", "books", "x-1", "x1"]);
      return manifest(`${gatewayApi}/v1`, "HTTPRoute", name, namespace, {
        parentRefs: parents.slice(0, random.pick([1, 2])),
        ...(hosts.length === 0 ? {} : { hostnames: hosts }),
        rules: randomRouteRules(random),
      });
    }
  }
}

function manifest(
  apiVersion: string,
  kind: string,
  name: string,
  namespace: string,
  spec: object,
): readonly [path: string, object: object] {
  const metadata = { name, namespace };
  return [`/${kind}/${namespace}/${name}`, { apiVersion, kind, metadata, spec }];
}

function randomListeners(random: RandomSource): readonly object[] {
  const allowedRoutes = { namespaces: { from: random.pick(["All", "All", "Same"]) } };
  const http = { name: "http", port: 80, protocol: "HTTP", allowedRoutes };
  const port = random.pick([8080, 80]);
  const hostname = random.pick(["*.example.com", "a.example.com"]);
  const other = { name: "other", port, protocol: "HTTP", hostname, allowedRoutes };
  const kinds = [{ group: "gwc.dev", kind: "GatewayModel" }];
  const models = { name: "models", port: 8082, protocol: "HTTP", allowedRoutes: { kinds } };
  return random.pick([[http], [http, other], [http, models]]);
}

/** A server with a credential that is a literal, or the servers of tools that a selector finds. */
function randomBackend(random: RandomSource): object {
  const auth = { key: random.pick(["literal-one", "literal-two"]) };
  if (random.chance(0.6))
    return {
      static: { host: random.pick(["x.example.com", "y.example.com"]), port: 443 },
      ...(random.chance(0.5) && { policies: { auth } }),
    };
  const namespaces = { matchLabels: { team: "red" } };
  const selector = { services: {}, ...(random.chance(0.5) && { namespaces }) };
  return { mcp: { targets: [{ name: "tools", selector }] } };
}

function randomPolicy(random: RandomSource): object {
  const name = random.pick(["shop", "books", "one", "child", "front", "set"]);
  const isService = name === "one";
  const kinds: Readonly<Record<string, string>> = {
    one: "Service",
    front: "Gateway",
    set: "ListenerSet",
  };
  const kind = kinds[name] ?? "HTTPRoute";
  const sectionName = random.pick(["", "", "main", "http"]);
  const target = { group: isService ? "" : gatewayApi, kind, name };
  const targetRefs = [
    isService ? target : { ...target, ...(sectionName !== "" && { sectionName }) },
  ];
  const backend = { http: { version: random.pick(["HTTP1", "HTTP2"]) } };
  if (isService || random.chance(0.3)) return { targetRefs, backend };
  const rule = random.pick(['request.path == "/a"', 'request.method == "GET"', "request.path = 1"]);
  const traffic = { authorization: { policy: { matchExpressions: [rule] } } };
  return { targetRefs, traffic };
}

function randomRouteRules(random: RandomSource): readonly object[] {
  const path = { type: "PathPrefix", value: random.pick(["/", "/a", "/b/", "/c"]) };
  const headers = [{ name: "x", value: "y" }];
  const set = [{ name: "x-a", value: "b" }];
  const filter = { type: "RequestHeaderModifier", requestHeaderModifier: { set } };
  const one = { name: "one", port: 80 };
  const two = { name: "two", port: 80, weight: 3 };
  const pattern = { type: "RegularExpression", value: random.pick(["/[a-z]+", "/["]) };
  const child = { group: gatewayApi, kind: "HTTPRoute", name: "child" };
  const far = { ...one, namespace: random.pick(["a", "b"]) };
  const own = { group: "gwc.dev", kind: "GatewayBackend", name: random.pick(["b", "c"]) };
  const rule = {
    ...(random.chance(0.3) && { name: "main" }),
    matches: random.chance(0.7) ? [{ path }] : [{ path }, { headers }],
    ...(random.chance(0.3) ? { filters: [filter] } : {}),
    backendRefs: random.pick([[one], [one], [two, one], [], [child], [far], [own], [own, one]]),
  };
  return random.chance(0.8) ? [rule] : [rule, { matches: [{ path: pattern }], backendRefs: [one] }];
}
