import { type ConnectionOptions, connect } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { type Origin, startOrigin } from "../attacks/origin.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { gatewayManifest } from "../kubernetes/gateway-manifest.ts";
import { askHttp1, askHttp2, type Outcome, plainHead, type RequestHead } from "./request-heads.ts";

type Change = Partial<RequestHead>;

/** Heads with one meaning: the status is the same over every protocol, and the origin gets the same request. */
const served: readonly (readonly [name: string, status: number, Change])[] = [
  ["a plain request", 200, {}],
  [
    "a path with everything that a target may have",
    200,
    { path: "/a-._~!$&'()*+,;=:@%20\"<>[]^`{|}?/?" },
  ],
  ["a path that is brought to one form", 200, { path: "//a/./%41%c3%a9" }],
  ["a method that few use", 200, { method: "PROPFIND" }],
  ["a method with a hyphen", 200, { method: "M-SEARCH" }],
  ["a host in upper case with a port", 200, { authority: "A.Test:80" }],
  ["a value with bytes beyond ASCII", 200, { fields: [["x-a", "caf\xe9"]] }],
  ["a value with a tab inside", 200, { fields: [["x-a", "b\tc"]] }],
  ["an empty value", 200, { fields: [["x-a", ""]] }],
  [
    "a field twice",
    200,
    {
      fields: [
        ["x-a", "1"],
        ["x-a", "2"],
      ],
    },
  ],
  ["OPTIONS of the server itself", 204, { method: "OPTIONS", path: "*" }],
];

/** The head that nghttp2 passes to the gateway: the rest is answered 400. */
type Unseen = "stream reset" | "field left out";

/** Heads that HTTP/1.1 answers with this status. They reach the origin over no protocol. */
const refused: readonly (readonly [
  name: string,
  Change,
  unseen?: Unseen | undefined,
  status?: 400 | 417 | 431,
])[] = [
  ["a method in lower case", { method: "delete" }],
  ["a method in both cases", { method: "Delete" }],
  ["a method that HTTP does not have", { method: "FOO" }],
  ["a method with a token's other characters", { method: "GET!" }],
  ["a method in Latin-1", { method: "G\xcbT" }, "stream reset"],
  ["a method with a NUL", { method: "GET\0" }, "stream reset"],
  ["CONNECT", { method: "CONNECT", path: "a.test:443", authority: "a.test:443" }, "stream reset"],
  ["a path that ends in a no-break space", { path: "/admin\xa0" }],
  ["a path that ends in a next line", { path: "/admin\xc2\x85" }],
  ["a path that ends in the byte 0x80", { path: "/admin\x80" }],
  ["a path that ends in the byte 0xff", { path: "/admin\xff" }],
  ["a path in UTF-8", { path: "/secr\xc3\xa9t" }],
  ["a query in UTF-8", { path: "/?q=\xc3\xa9" }],
  ["a path with a control byte", { path: "/a\x01" }, "stream reset"],
  ["a path with DEL", { path: "/a\x7f" }, "stream reset"],
  ["a path with a tab", { path: "/a\tb" }, "stream reset"],
  ["a path with a space", { path: "/a b" }, "stream reset"],
  ["a path with a fragment", { path: "/a#b" }],
  ["a path with a backslash", { path: "/a\\b" }],
  ["a path with an encoded slash", { path: "/a%2fb" }],
  ["a path with an encoded NUL", { path: "/a%00" }],
  ["a path with a broken encoding", { path: "/a%zz" }],
  ["a path above the root", { path: "/a/../../b" }],
  ["a dot segment with parameters", { path: "/a/..;x/b" }],
  ["a path without a slash", { path: "a" }, "stream reset"],
  ["an asterisk on GET", { path: "*" }, "stream reset"],
  ["a target in absolute form", { path: "http://a.test/" }, "stream reset"],
  ["an empty host", { authority: "" }, "stream reset"],
  ["no host", { authority: undefined }, "stream reset"],
  ["a host with a user", { authority: "u@a.test" }, "stream reset"],
  ["a host with a path", { authority: "a.test/b" }, "stream reset"],
  ["a host with an escape", { authority: "a%2etest" }],
  ["a host with an underscore", { authority: "a_b.test" }],
  ["a host with an empty label", { authority: "a..test" }],
  ["a host with a bad port", { authority: "a.test:8o" }],
  ["a host list", { authority: "a.test,b.test" }],
  ["a host in Latin-1", { authority: "\xe4.test" }, "stream reset"],
  ["another host behind the first", { fields: [["host", "b.test"]] }],
  ["a value with a NUL", { fields: [["x-a", "b\0c"]] }, "field left out"],
  ["a value with a control byte", { fields: [["x-a", "b\x01c"]] }, "field left out"],
  ["a value with DEL", { fields: [["x-a", "b\x7fc"]] }, "field left out"],
  ["a value with a CR", { fields: [["x-a", "b\rc"]] }, "field left out"],
  ["a name with a space", { fields: [["x a", "b"]] }, "field left out"],
  ["a name with a parenthesis", { fields: [["x(a", "b"]] }, "field left out"],
  ["a name in Latin-1", { fields: [["x\xe4", "b"]] }, "field left out"],
  ["an empty name", { fields: [["", "b"]] }, "field left out"],
  ["a length with a sign", { fields: [["content-length", "+0"]] }, "stream reset"],
  ["a length in hexadecimal", { fields: [["content-length", "0x0"]] }, "stream reset"],
  ["an empty length", { fields: [["content-length", ""]] }, "stream reset"],
  ["a list of lengths", { fields: [["content-length", "0, 0"]] }, "stream reset"],
  [
    "two lengths",
    {
      fields: [
        ["content-length", "0"],
        ["content-length", "0"],
      ],
    },
    "stream reset",
  ],
  [
    "a length beyond exact numbers",
    { fields: [["content-length", "9007199254740993"]] },
    "stream reset",
  ],
  [
    "a transfer coding other than chunked",
    { fields: [["transfer-encoding", "gzip"]] },
    "stream reset",
  ],
  ["an unknown expectation", { fields: [["expect", "200-ok"]] }, undefined, 417],
  [
    "too many fields",
    { fields: Array.from({ length: 101 }, () => ["x-a", "b"] as const) },
    undefined,
    431,
  ],
];

/** Heads that HTTP/1.1 cannot express. */
const refusedHttp2: readonly (readonly [name: string, Change, Outcome])[] = [
  ["a scheme that is not of HTTP", { pseudo: [[":scheme", "ftp"]] }, 400],
  ["a scheme in upper case", { pseudo: [[":scheme", "HTTP"]] }, 400],
  ["another scheme with a path of its own", { path: "admin", pseudo: [[":scheme", "ftp"]] }, 400],
  ["an empty scheme", { pseudo: [[":scheme", ""]] }, "stream reset"],
  [
    "two schemes",
    {
      pseudo: [
        [":scheme", "http"],
        [":scheme", "http"],
      ],
    },
    "stream reset",
  ],
  ["an unknown pseudo-header field", { pseudo: [[":own", "a"]] }, "stream reset"],
  ["the pseudo-header field of a response", { pseudo: [[":status", "200"]] }, "stream reset"],
  ["a second path", { fields: [[":path", "/admin"]] }, "stream reset"],
  [
    "a protocol over CONNECT",
    { method: "CONNECT", pseudo: [[":protocol", "websocket"]] },
    "stream reset",
  ],
  [
    "CONNECT with a host alone",
    {
      method: "CONNECT",
      pseudo: [
        [":method", "CONNECT"],
        [":authority", "a.test:443"],
      ],
    },
    "stream reset",
  ],
  [
    "an empty authority before a host",
    { authority: "", fields: [["host", "a.test"]] },
    "stream reset",
  ],
  ["a blank before a value", { fields: [["x-a", " b"]] }, 400],
  ["a tab behind a value", { fields: [["x-a", "b\t"]] }, 400],
  ["a value of one blank", { fields: [["x-a", " "]] }, 400],
  [
    "a blank around a host",
    { authority: undefined, fields: [["host", " a.test"]] },
    "stream reset",
  ],
  ["a name in upper case", { fields: [["X-A", "b"]] }, "stream reset"],
  ["a field of the connection", { fields: [["connection", "x-a"]] }, "stream reset"],
  ["an upgrade", { fields: [["upgrade", "websocket"]] }, "stream reset"],
];

interface World {
  readonly origin: Origin;
  readonly port: number;
  readonly securePort: number;
}

type Ask = (world: World, head: RequestHead) => Promise<Outcome>;

const secure = ({ securePort }: World, options: ConnectionOptions) =>
  connect({ host: "127.0.0.1", port: securePort, rejectUnauthorized: false, ...options });

const protocols: readonly (readonly [name: string, version: 1 | 2, Ask])[] = [
  ["HTTP/1.1", 1, ({ port }, head) => askHttp1(port, head)],
  ["HTTP/2 with prior knowledge", 2, ({ port }, head) => askHttp2(port, head)],
  ["HTTP/1.1 over TLS", 1, (world, head) => askHttp1(world.securePort, head, secure(world, {}))],
  [
    "HTTP/2 over TLS",
    2,
    (world, head) => askHttp2(world.securePort, head, secure(world, { ALPNProtocols: ["h2"] })),
  ],
];

async function startStandalone(): Promise<World> {
  const origin = await startOrigin();
  const routes = [{ backends: [{ host: origin.host }] }];
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  const tls = { cert: "site.pem", key: "site.key" };
  const [port, securePort] = [await freePort(), await freePort()];
  await startGateway({
    config: {
      binds: [
        { port, listeners: [{ routes }] },
        { port: securePort, listeners: [{ protocol: "HTTPS", tls, routes }] },
      ],
    },
    folder,
  });
  return { origin, port, securePort };
}

async function startManifests(): Promise<World> {
  const origin = await startOrigin();
  const [host, originPort] = origin.host.split(":");
  const port = await freePort();
  await startGateway({
    config: `${gatewayManifest(port)}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: b}
spec: {static: {host: ${host}, port: ${originPort}}}
`,
  });
  return { origin, port, securePort: 0 };
}

describe.each([
  ["a file", startStandalone, protocols],
  ["manifests", startManifests, protocols.slice(0, 2)],
])("a gateway of %s", (_, start, asked) => {
  let world: World;
  beforeAll(async () => {
    world = await start();
  });

  it.each(served)("serves %s over every protocol alike", async (_name, status, change) => {
    const seen: unknown[] = [];
    for (const [protocol, , ask] of asked) {
      expect(await ask(world, { ...plainHead, ...change }), protocol).toBe(status);
      seen.push(world.origin.requests.splice(0));
    }
    for (const each of seen) expect(each).toEqual(seen[0]);
  });

  for (const [name, change, unseen, status = 400] of refused) {
    it(`refuses ${name} over every protocol`, async () => {
      for (const [protocol, version, ask] of asked) {
        const outcome = await ask(world, { ...plainHead, ...change });
        const reached = world.origin.requests.splice(0);
        if (version === 1 || unseen === undefined) expect(outcome, protocol).toBe(status);
        else expect(outcome, protocol).toBe(unseen === "stream reset" ? unseen : 200);
        const names = reached.map(({ headers }) => headers.map(([each]) => each));
        const isLeftOut = version === 2 && unseen === "field left out";
        expect(names, protocol).toEqual(isLeftOut ? [["host", "connection"]] : []);
      }
    });
  }

  it.each(refusedHttp2)("refuses %s over HTTP/2", async (_name, change, wanted) => {
    for (const [protocol, version, ask] of asked) {
      if (version === 1) continue;
      expect(await ask(world, { ...plainHead, ...change }), protocol).toBe(wanted);
      expect(world.origin.requests.splice(0), protocol).toEqual([]);
    }
  });

  it("forwards nothing that its origin could read in two ways", () => {
    expect(world.origin.faults).toEqual([]);
  });
});
