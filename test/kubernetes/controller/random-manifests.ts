import type { RandomSource } from "../../inspect/random-rules.ts";

const gatewayApi = "gateway.networking.k8s.io";

/** A manifest with its path: one of few names, with one of few contents, some of which have mistakes. */
export function randomManifest(random: RandomSource): readonly [path: string, object: object] {
  const namespace = random.pick(["a", "b"]);
  switch (random.below(8)) {
    case 0:
      return manifest(`${gatewayApi}/v1`, "Gateway", random.pick(["front", "back"]), "a", {
        gatewayClassName: "gwc",
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
  return random.chance(0.5) ? [http] : [http, other];
}

function randomPolicy(random: RandomSource): object {
  const name = random.pick(["shop", "books", "one"]);
  const isService = name === "one";
  const kind = isService ? "Service" : "HTTPRoute";
  const targetRefs = [{ group: isService ? "" : gatewayApi, kind, name }];
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
  const rule = {
    matches: random.chance(0.7) ? [{ path }] : [{ path }, { headers }],
    ...(random.chance(0.3) ? { filters: [filter] } : {}),
    backendRefs: random.pick([[one], [one], [two, one], []]),
  };
  return random.chance(0.8) ? [rule] : [rule, { matches: [{ path: pattern }], backendRefs: [one] }];
}
