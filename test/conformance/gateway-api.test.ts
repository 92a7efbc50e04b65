import { describe, expect, it } from "vitest";
import { isGood } from "../kubernetes/shapes.ts";

/** A part of a resource, and the values that it may and may not have (the CRDs of the Gateway API, 1.6). */
interface Rule {
  readonly what: string;
  readonly spec: (value: never) => object;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const listener = { name: "a", port: 80, protocol: "HTTP" };
const gateway = (each: object) => ({
  gatewayClassName: "a",
  listeners: [{ ...listener, ...each }],
});
const rule = (each: object) => ({ rules: [each] });
const filter = (type: string, field: string) => (value: object) =>
  rule({ filters: [{ type, [field]: value }] });
const validation = (each: object) => ({
  targetRefs: [{ group: "", kind: "Service", name: "a" }],
  validation: { hostname: "a", wellKnownCACertificates: "System", ...each },
});

const rules: Readonly<Record<string, readonly Rule[]>> = {
  GatewayClass: [
    {
      what: "its controller is DOMAIN/PATH",
      spec: (controllerName: string) => ({ controllerName }),
      good: ["a.b/c", "a/b/c-d"],
      bad: ["a.b", "a.b/", "A/b", "a b/c"],
    },
  ],
  Gateway: [
    {
      what: "names of listeners are host names",
      spec: gateway,
      good: [
        { protocol: "HTTPS", tls: { certificateRefs: [{ name: "a" }] } },
        { hostname: "*.a.b" },
      ],
      bad: [{ hostname: "a.*" }, { hostname: "A" }],
    },
    {
      what: "namespaces of routes",
      spec: (from: string) => gateway({ allowedRoutes: { namespaces: { from } } }),
      good: ["All", "Same", "Selector"],
      bad: ["None"],
    },
    {
      what: "labels of what is made for it",
      spec: (labels: object) => ({ ...gateway({}), infrastructure: { labels } }),
      good: [{ a: "b-1" }, { a: "" }],
      bad: [{ a: "b c" }, { a: "-" }],
    },
  ],
  HTTPRoute: [
    {
      what: "an exact path or a prefix is a plain path",
      spec: (value: string) => rule({ matches: [{ path: { value } }] }),
      good: ["/", "/a/b-c_d.e~f", "/a%20b", "/a/...", "/.well-known"],
      bad: [
        "a",
        "/a//b",
        "/a/./b",
        "/a/../b",
        "/a/..",
        "/a/.",
        "/a%2fb",
        "/a%2Fb",
        "/a#b",
        "/a?b",
        "/a b",
      ],
    },
    {
      what: "a regular expression is anything",
      spec: (value: string) => rule({ matches: [{ path: { type: "RegularExpression", value } }] }),
      good: ["a.*//", "/a%2f"],
      bad: [],
    },
    {
      what: "a replaced path says what its type says",
      spec: (path: object) => filter("URLRewrite", "urlRewrite")({ path }),
      good: [
        { type: "ReplaceFullPath", replaceFullPath: "/a" },
        { type: "ReplacePrefixMatch", replacePrefixMatch: "/" },
      ],
      bad: [
        { type: "ReplaceFullPath", replacePrefixMatch: "/a" },
        { type: "ReplaceFullPath" },
        { type: "ReplacePrefixMatch", replacePrefixMatch: "/", replaceFullPath: "/" },
      ],
    },
    {
      what: "a host that is put in is no wildcard",
      spec: (hostname: string) => filter("RequestRedirect", "requestRedirect")({ hostname }),
      good: ["a.b"],
      bad: ["*.b", "A", ""],
    },
    {
      what: "a fraction is at most the whole",
      spec: (fraction: object) =>
        filter("RequestMirror", "requestMirror")({ backendRef: { name: "a", port: 80 }, fraction }),
      good: [{ numerator: 100 }, { numerator: 3, denominator: 3 }],
      bad: [{ numerator: 101 }, { numerator: 4, denominator: 3 }],
    },
    {
      what: "an attempt takes no longer than the request",
      spec: (timeouts: object) => rule({ timeouts }),
      good: [
        { request: "1m", backendRequest: "60s" },
        { request: "0s", backendRequest: "1s" },
        { backendRequest: "1s" },
      ],
      bad: [{ request: "1s", backendRequest: "1001ms" }],
    },
  ],
  BackendTLSPolicy: [
    {
      what: "names of its type",
      spec: (each: object) => validation({ subjectAltNames: [each] }),
      good: [
        { type: "Hostname", hostname: "*.a" },
        { type: "URI", uri: "spiffe://a/b" },
      ],
      bad: [
        { type: "URI", hostname: "a" },
        { type: "Hostname" },
        { hostname: "a" },
        { type: "URI", uri: "a" },
      ],
    },
    {
      what: "whom to trust",
      spec: validation,
      good: [{}, { hostname: "a.b" }],
      bad: [
        { hostname: "*.b" },
        { wellKnownCACertificates: "Other" },
        { caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "a" }] },
      ],
    },
  ],
  ReferenceGrant: [
    {
      what: "groups and kinds",
      spec: (to: object) => ({
        from: [{ group: "a.b", kind: "HTTPRoute", namespace: "a" }],
        to: [to],
      }),
      good: [{ group: "", kind: "Service" }],
      bad: [{ group: "A", kind: "Service" }, { group: "", kind: "Ser vice" }, { group: "" }],
    },
  ],
};

describe.each(Object.entries(rules))("%s", (kind, own) => {
  it.each(own)("$what", ({ spec, good, bad }) => {
    const said = (value: unknown) =>
      // Each rule's values are what it takes.
      isGood(kind, { kind, metadata: { name: "a" }, spec: spec(value as never) }).said;
    for (const value of good) expect(said(value), JSON.stringify(value)).toEqual([]);
    for (const value of bad) expect(said(value), JSON.stringify(value)).not.toEqual([]);
  });
});
