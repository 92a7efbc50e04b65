import { expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { complaints } from "./manifests.ts";

const backendRef = { group: "gwc.dev", kind: "GatewayBackend", name: "asked" };
const host = "asked:9000";
const ofPath = [{ name: "path", expression: "request.path" }];
const filePath = [{ key: "path", value: "request.path" }];
const isRead = 'request.method == "GET"';

/** The same policy in manifests below `traffic`, and in a file below `policies`. */
const forms: Readonly<Record<string, readonly [traffic: object, policies: object]>> = {
  "authorization over gRPC": [{ extAuth: { backendRef, grpc: {} } }, { extAuthz: { host } }],
  "what its server gets besides": [
    {
      extAuth: {
        backendRef,
        grpc: {
          contextExtensions: { shop: "books" },
          requestMetadata: { asked: '{"path": request.path}' },
        },
      },
    },
    {
      extAuthz: {
        host,
        protocol: {
          grpc: { context: { shop: "books" }, metadata: { asked: '{"path": request.path}' } },
        },
      },
    },
  ],
  "requests without a verdict that pass": [
    { extAuth: { backendRef, grpc: {}, failureMode: "FailOpen" } },
    { extAuthz: { host, failureMode: "allow" } },
  ],
  "bodies in questions": [
    { extAuth: { backendRef, grpc: {}, forwardBody: { maxSize: "1Ki" } } },
    { extAuthz: { host, includeRequestBody: { maxRequestBytes: 1024 } } },
  ],
  "authorization over HTTP": [
    {
      extAuth: {
        backendRef,
        forwardBody: { maxSize: 100 },
        http: {
          path: '"/check" + request.path',
          redirect: '"/login?to=" + request.path',
          allowedRequestHeaders: ["X-User", "cookie"],
          addRequestHeaders: { "x-method": "request.method" },
          allowedResponseHeaders: ["X-Role"],
          responseMetadata: { role: 'response.headers["x-role"]' },
        },
      },
      authorization: { policy: { matchExpressions: ['extauthz.role == "admin"'] } },
    },
    {
      extAuthz: {
        host,
        includeRequestBody: { maxRequestBytes: 100 },
        includeRequestHeaders: ["X-User", "cookie"],
        protocol: {
          http: {
            path: '"/check" + request.path',
            redirect: '"/login?to=" + request.path',
            addRequestHeaders: { "x-method": "request.method" },
            includeResponseHeaders: ["X-Role"],
            metadata: { role: 'response.headers["x-role"]' },
          },
        },
      },
      authorization: { rules: ['extauthz.role == "admin"'] },
    },
  ],
  "a limit of a service": [
    {
      rateLimit: {
        global: {
          backendRef,
          domain: "shop",
          descriptors: [
            { entries: [...ofPath, { name: "method", expression: "request.method" }] },
            { entries: ofPath, cost: "2" },
          ],
        },
      },
    },
    {
      remoteRateLimit: {
        host,
        domain: "shop",
        descriptors: [
          { entries: [...filePath, { key: "method", value: "request.method" }] },
          { entries: filePath, cost: "2" },
        ],
      },
    },
  ],
  "a limit that may be away": [
    {
      rateLimit: {
        global: {
          backendRef,
          domain: "shop",
          failureMode: "FailOpen",
          descriptors: [{ entries: ofPath }],
        },
      },
    },
    {
      remoteRateLimit: {
        host,
        domain: "shop",
        failureMode: "failOpen",
        descriptors: [{ entries: filePath }],
      },
    },
  ],
  "a processor": [{ extProc: { backendRef } }, { extProc: { host } }],
  "a processor that may be away": [
    { extProc: { backendRef, failureMode: "FailOpen" } },
    { extProc: { host, failureMode: "failOpen" } },
  ],
  "what a processor gets": [
    {
      extProc: {
        backendRef,
        requestAttributes: { "source.address": "source.address" },
        responseAttributes: { "response.code": "response.code" },
        metadataContext: { shop: { path: "request.path" } },
        processingOptions: {
          requestBodyMode: "BufferedPartial",
          responseBodyMode: "FullDuplexStreamed",
          responseHeaderMode: "Send",
          requestTrailerMode: "Send",
          responseTrailerMode: "Skip",
          allowModeOverride: true,
        },
      },
    },
    {
      extProc: {
        host,
        requestAttributes: { "source.address": "source.address" },
        responseAttributes: { "response.code": "response.code" },
        metadataContext: { shop: { path: "request.path" } },
        processingOptions: {
          requestBodyMode: "bufferedPartial",
          responseBodyMode: "fullDuplexStreamed",
          responseHeaderMode: "send",
          requestTrailerMode: "send",
          responseTrailerMode: "skip",
          allowModeOverride: true,
        },
      },
    },
  ],
  "cached verdicts": [
    {
      extAuth: {
        backendRef,
        http: { body: '{"path": request.path}' },
        cache: {
          key: ["request.path", 'request.headers["authorization"]'],
          ttl: 'duration(request.headers["x-ttl"])',
          maxEntries: 50,
        },
      },
    },
    {
      extAuthz: {
        host,
        protocol: { http: { body: '{"path": request.path}' } },
        cache: {
          key: ["request.path", 'request.headers["authorization"]'],
          ttl: 'duration(request.headers["x-ttl"])',
          maxEntries: 50,
        },
      },
    },
  ],
  "servers for some requests": [
    {
      extAuth: {
        conditional: [
          { condition: isRead, policy: { backendRef, grpc: {} } },
          { policy: { backendRef, http: {} } },
        ],
      },
      extProc: { conditional: [{ condition: isRead, policy: { backendRef } }] },
    },
    {
      extAuthz: {
        conditional: [
          { condition: isRead, host },
          { host, protocol: { http: {} } },
        ],
      },
      extProc: { conditional: [{ condition: isRead, host }] },
    },
  ],
  "all of them": [
    {
      extAuth: { backendRef, grpc: {} },
      rateLimit: {
        local: [{ requests: 3, unit: "Hours" }],
        global: {
          backendRef,
          domain: "shop",
          descriptors: [{ entries: [{ name: "user", expression: "extauthz.user" }] }],
        },
      },
      extProc: { backendRef },
    },
    {
      extAuthz: { host },
      localRateLimit: [{ requests: 3, unit: "Hours" }],
      remoteRateLimit: {
        host,
        domain: "shop",
        descriptors: [{ entries: [{ key: "user", value: "extauthz.user" }] }],
      },
      extProc: { host },
    },
  ],
};

const gatewayApi = "gateway.networking.k8s.io";

/** The places of a policy in manifests: its target, and whether it acts before routing. */
const places = {
  "a route": { target: { kind: "HTTPRoute", name: "shop" }, isBefore: false },
  "a rule": { target: { kind: "HTTPRoute", name: "shop", sectionName: "rule" }, isBefore: false },
  "a listener": { target: { kind: "Gateway", name: "gw", sectionName: "web" }, isBefore: false },
  "a gateway": { target: { kind: "Gateway", name: "gw" }, isBefore: false },
  "a listener, before routing": {
    target: { kind: "Gateway", name: "gw", sectionName: "web" },
    isBefore: true,
  },
  "a gateway, before routing": { target: { kind: "Gateway", name: "gw" }, isBefore: true },
} as const;

type Place = (typeof places)[keyof typeof places];

function manifests(traffic: object, { target, isBefore }: Place): string {
  const shop = { group: "gwc.dev", kind: "GatewayBackend", name: "shop" };
  const own = (kind: string, name: string, spec: object) => ({
    apiVersion: "gwc.dev/v1alpha1",
    kind,
    metadata: { name },
    spec,
  });
  const documents = [
    {
      apiVersion: `${gatewayApi}/v1`,
      kind: "Gateway",
      metadata: { name: "gw" },
      spec: {
        gatewayClassName: "gwc",
        listeners: [{ name: "web", port: 8080, protocol: "HTTP" }],
      },
    },
    {
      apiVersion: `${gatewayApi}/v1`,
      kind: "HTTPRoute",
      metadata: { name: "shop" },
      spec: { parentRefs: [{ name: "gw" }], rules: [{ name: "rule", backendRefs: [shop] }] },
    },
    own("GatewayBackend", "shop", { static: { host: "shop", port: 80 } }),
    own("GatewayBackend", "asked", { static: { host: "asked", port: 9000 } }),
    own("GatewayPolicy", "asks", {
      targetRefs: [{ group: gatewayApi, ...target }],
      traffic: { ...(isBefore && { phase: "PreRouting" }), ...traffic },
    }),
  ];
  return documents.map((each) => JSON.stringify(each)).join("\n---\n");
}

function file(policies: object, { isBefore }: Place): string {
  const route = { backends: [{ host: "shop:80" }] };
  const listener = isBefore ? { policies, routes: [route] } : { routes: [{ ...route, policies }] };
  return JSON.stringify({ binds: [{ port: 8080, listeners: [listener] }] });
}

/**
 * Returns the settings of the policies of the listener and the route, without their places; only manifests have a connect
 * timeout.
 */
function settingsOf(text: string): string {
  const options = { name: "test", isStrict: false };
  const checked = checkFiles(["a.yaml"], memoryHost({ "a.yaml": text }), options);
  expect(complaints(checked)).toEqual([]);
  const listeners = (checked.program?.binds ?? []).flatMap((bind) => bind.listeners);
  const policies = listeners.map(({ preRouting, routes }) => [
    preRouting?.policies,
    routes.map((route) => route.policies),
  ]);
  return JSON.stringify(policies, withoutPlaces);
}

function withoutPlaces(key: string, value: unknown): unknown {
  return /origin$|^connectTimeout$/i.test(key) ? undefined : value;
}

for (const [place, where] of Object.entries(places)) {
  it.each(Object.keys(forms))(`manifests say of ${place} what a file says: %s`, (name) => {
    const [traffic = {}, policies = {}] = forms[name] ?? [];
    const [ours, theirs] = [
      settingsOf(manifests(traffic, where)),
      settingsOf(file(policies, where)),
    ];
    expect(ours).toContain("asked:9000");
    expect(ours).toEqual(theirs);
  });
}
