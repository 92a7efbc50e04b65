import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecure } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { keepIdleConnections, listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { refusals } from "../harness/refusals.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";
import { findings } from "../policies/refused.ts";

const anyone = { authorization: { rules: ["true"] } };
const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));

/** A gateway that forwards to the host of each request. */
function startProxy(
  dynamic: object,
  { policies = {}, addresses = {} }: { policies?: object; addresses?: object } = {},
): Promise<Gateway> {
  return startGateway({
    env: { NODE_OPTIONS: `--import ${names}`, GWC_TEST_NAMES: JSON.stringify(addresses) },
    listeners: [
      { name: "out", routes: [{ policies: { ...anyone, ...policies }, backends: [{ dynamic }] }] },
    ],
  });
}

/** A server on one of the machine's loopback addresses; it is gone when the test has finished. */
async function startServer(listener: RequestListener, host = "127.0.0.1", port = 0) {
  const sockets = new Set<Socket>();
  const server = createServer(listener);
  keepIdleConnections(server);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return { port: (server.address() as AddressInfo).port, sockets };
}

const echo: RequestListener = (request, response) => {
  request.resume();
  response.end(`${request.headers.host} ${request.url} ${request.headers.via}`);
};

async function ask(gateway: Gateway, head: string): Promise<string> {
  const client = new RawClient(gateway.port);
  client.send(`${head}\r\nConnection: close\r\n\r\n`);
  await client.closes();
  return client.received;
}

const run = promisify(execFile);

/** Output of curl: the body, then the status. */
async function curl(...parameters: string[]): Promise<string> {
  const { stdout } = await run(program("curl"), [
    "-s",
    "--noproxy",
    "",
    "-w",
    " %{http_code}",
    ...parameters,
  ]);
  return stdout;
}

it("curl goes through it as through any proxy, and as through the server itself", async () => {
  const server = await startServer(echo);
  const { port } = await startProxy({ allowPrivate: ["127.0.0.0/8", "::1"] });
  const site = `http://127.0.0.1:${server.port}`;
  const response = new RegExp(
    `^127\\.0\\.0\\.1:${server.port} /a\\?b=c 1\\.1 gwc-[0-9a-f]{16} 200$`,
  );
  expect(await curl("-x", `http://127.0.0.1:${port}`, `${site}/a?b=c`)).toMatch(response);
  expect(
    await curl("--connect-to", `127.0.0.1:${server.port}:127.0.0.1:${port}`, `${site}/a?b=c`),
  ).toMatch(response);
  // HTTP/2 names the host in :authority.
  expect(
    await curl(
      ...["--http2-prior-knowledge", "--connect-to"],
      ...[`127.0.0.1:${server.port}:127.0.0.1:${port}`, `${site}/a?b=c`],
    ),
  ).toMatch(/ 2 gwc-[0-9a-f]{16} 200$/);
});

it("a request for a tunnel is answered clearly, and nothing is connected to", async () => {
  const server = await startServer(echo);
  const gateway = await startProxy({ allowPrivate: ["127.0.0.0/8"] });
  const target = `127.0.0.1:${server.port}`;
  expect(await ask(gateway, `CONNECT ${target} HTTP/1.1\r\nHost: ${target}`)).toMatch(
    /^HTTP\/1\.1 501 /,
  );
  expect(await ask(gateway, `GET https://${target}/ HTTP/1.1\r\nHost: ${target}`)).toMatch(
    /^HTTP\/1\.1 400 /,
  );
  expect(server.sockets.size).toBe(0);
});

it("target and Host have to name the same host", async () => {
  const server = await startServer(echo);
  const gateway = await startProxy({ allowPrivate: ["127.0.0.0/8"] });
  const target = `127.0.0.1:${server.port}`;
  for (const [line, host, status] of [
    [`GET http://${target}/ HTTP/1.1`, target, 200],
    [`GET HTTP://${target}?x HTTP/1.1`, target, 200],
    [`GET http://${target} HTTP/1.0`, undefined, 200],
    [`GET http://${target}/ HTTP/1.1`, "127.0.0.1", 400],
    [`GET http://${target}/ HTTP/1.1`, `127.0.0.2:${server.port}`, 400],
    [`GET http://user@${target}/ HTTP/1.1`, target, 400],
    [`GET http://${target}\\@x/ HTTP/1.1`, target, 400],
    [`GET http:///x HTTP/1.1`, target, 400],
    [`GET http://${target}/a/../../b HTTP/1.1`, target, 400],
    [`GET ftp://${target}/ HTTP/1.1`, target, 400],
    [`GET ${target} HTTP/1.1`, target, 400],
    [`GET http://%31/ HTTP/1.0`, undefined, 400],
  ] as const) {
    const head = host === undefined ? line : `${line}\r\nHost: ${host}`;
    expect(await ask(gateway, head), line).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

const refused: readonly string[] = [
  ...["127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"],
  ...["169.254.169.254", "169.254.1.1", "100.100.100.200", "100.64.0.1", "168.63.129.16"],
  ...["224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1"],
  ...["[::1]", "[::]", "[fe80::1]", "[fd00:ec2::254]", "[fd12::1]", "[ff02::1]", "[2001:db8::1]"],
  ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:8.8.8.8]", "[::127.0.0.1]"],
  ...["[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]"],
  // Spellings that inet_aton reads: decimal, octal, hexadecimal, fewer parts.
  ...["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.1", "0", "017700000001"],
  ...["134744072", "0x08.8.8.8", "localhost", "LOCALHOST"],
];

it("addresses that are not public are refused, however they are spelled", async () => {
  const gateway = await startProxy({});
  const server = await startServer(echo);
  for (const host of refused) {
    const response = await ask(gateway, `GET / HTTP/1.1\r\nHost: ${host}:${server.port}`);
    expect(response, host).toMatch(
      /^HTTP\/1\.1 403 [\s\S]*\r\n\r\nthis destination is not allowed$/,
    );
  }
  expect(server.sockets.size).toBe(0);
  await gateway.seen(
    /http\.status=403 error="127\.0\.0\.1 is loopback" reason=ForbiddenDestination/,
  );
  await gateway.seen(/error="169\.254\.169\.254 is a metadata service"/);
  await gateway.seen(/error="an address in an unusual notation"/);
});

it("what is no host is a 400, and a name that nobody knows a 503", async () => {
  const gateway = await startProxy({ allowPrivate: ["0.0.0.0/0"] });
  for (const [head, status] of [
    ["GET / HTTP/1.0", 400],
    ["GET / HTTP/1.1\r\nHost: a..b", 400],
    ["GET / HTTP/1.1\r\nHost: a.test..", 400],
    ["GET / HTTP/1.1\r\nHost: a.test:0", 400],
    ["GET / HTTP/1.1\r\nHost: a.test:65536", 400],
    [`GET / HTTP/1.1\r\nHost: ${"a.".repeat(130)}b`, 400],
    ["GET / HTTP/1.1\r\nHost: a%00b", 400],
    ["GET / HTTP/1.1\r\nHost: [fe80::1%25lo]", 400],
    ["GET / HTTP/1.1\r\nHost: nobody.invalid", 503],
    // Metadata services are not part of any range.
    ["GET / HTTP/1.1\r\nHost: 169.254.169.254", 403],
  ] as const) {
    expect(await ask(gateway, head), head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

it("a name is looked up once: the address that was checked is the one that is connected to", async () => {
  const secret = await startServer((_, response) => response.end("secret"));
  const { port, sockets } = await startServer(echo, "127.0.0.2", secret.port);
  const gateway = await startProxy(
    { allowPrivate: ["127.0.0.2"] },
    {
      addresses: {
        "rebind.test": ["127.0.0.2", "127.0.0.1"],
        "both.test": [["127.0.0.1", "127.0.0.2"]],
        "mapped.test": ["::ffff:127.0.0.1"],
        "metadata.test": ["169.254.169.254"],
      },
    },
  );
  const get = (host: string) => ask(gateway, `GET / HTTP/1.1\r\nHost: ${host}:${port}`);
  expect(await get("rebind.test")).toMatch(/ 200 [\s\S]*rebind\.test/);
  // The second lookup would return another address, but does not happen while the connection lives.
  expect(await get("rebind.test")).toMatch(/ 200 /);
  for (const socket of sockets) socket.destroy();
  await eventually(() => (sockets.size === 0 ? true : null), "the end of the connection");
  await eventually(async () => true, "a turn");
  expect(await get("rebind.test")).toMatch(/^HTTP\/1\.1 403 /);
  // Of several addresses only those that may be reached are tried.
  expect(await get("both.test")).toMatch(/ 200 [\s\S]*both\.test/);
  expect(await get("mapped.test")).toMatch(/^HTTP\/1\.1 403 /);
  expect(await get("metadata.test")).toMatch(/^HTTP\/1\.1 403 /);
  // A request for another protocol goes another way to the same check.
  const upgrade = `GET / HTTP/1.1\r\nHost: metadata.test\r\nConnection: Upgrade\r\nUpgrade: own/1\r\n\r\n`;
  const client = new RawClient(gateway.port);
  client.send(upgrade);
  await client.receives(/^HTTP\/1\.1 403 [\s\S]*this destination is not allowed$/);
  expect(secret.sockets.size).toBe(0);
});

it("a request never comes back to the gateway: neither to its ports nor by a detour", async () => {
  const gateway = await startProxy(
    { allowPrivate: ["127.0.0.0/8", "::1"] },
    { addresses: { "self.test": ["127.0.0.1"] } },
  );
  const detour = createTcpServer((socket) => {
    const onward = connect(gateway.port, "127.0.0.1");
    socket.pipe(onward).pipe(socket);
    for (const each of [socket, onward]) each.on("error", () => {});
  });
  await listen(detour);
  const [, stats] = await gateway.seen(/stats address on 127\.0\.0\.1:(\d+)/);
  for (const host of [
    ...[`127.0.0.1:${gateway.port}`, `127.0.0.9:${gateway.port}`, `[::1]:${gateway.port}`],
    ...[`self.test:${gateway.port}`, `127.0.0.1:${stats}`],
    `127.0.0.1:${(detour.address() as AddressInfo).port}`,
  ]) {
    const response = await ask(gateway, `GET / HTTP/1.1\r\nHost: ${host}`);
    expect(response, host).toMatch(/^HTTP\/1\.1 403 /);
  }
  await gateway.seen(/error="127\.0\.0\.1:\d+ is this gateway"/);
  await gateway.seen(/error="the request is in a loop"/);
  // The detour is one request more, and no further one.
  await eventually(
    () => (gateway.output.match(/http\.status/g)?.length === 7 ? true : null),
    "7 lines",
  );
});

it("rules decide about the destination; a rewritten host is the destination, with TLS its name too", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "ca");
  makeCertificate(folder, "server", { signer: "ca", names: "DNS:a.test,DNS:b.test" });
  const read = (name: string) => readFileSync(join(folder, name));
  const server = createSecure(
    { cert: read("server.pem"), key: read("server.key") },
    (request, response) => {
      const { servername } = request.socket as TLSSocket;
      response.end(`${servername} ${request.headers.host} ${request.headers.authorization}`);
    },
  );
  const port = await listen(server);
  const backends = [
    {
      dynamic: { allowPrivate: ["127.0.0.1"], port },
      policies: { backendTLS: { root: "ca.pem" }, backendAuth: { passthrough: {} } },
    },
  ];
  const gateway = await startGateway({
    folder,
    env: {
      NODE_OPTIONS: `--import ${names}`,
      GWC_TEST_NAMES: JSON.stringify({ "*": ["127.0.0.1"] }),
    },
    listeners: [
      {
        routes: [
          {
            matches: [{ path: { exact: "/rewritten" } }],
            policies: { ...anyone, urlRewrite: { authority: { full: "b.test" } } },
            backends,
          },
          {
            policies: {
              authorization: { rules: ['request.host in ["a.test", "c.test"]'] },
              retry: { attempts: 2, codes: [503] },
            },
            backends,
          },
        ],
      },
    ],
  });
  const get = (path: string, host: string) =>
    ask(gateway, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer own`);
  expect(await get("/", "a.test")).toMatch(/\r\n\r\na.test a.test Bearer own$/);
  expect(await get("/rewritten", "a.test")).toMatch(/\r\n\r\nb.test b.test Bearer own$/);
  // The rules do not allow it; its certificate is another one's.
  expect(await get("/", "b.test")).toMatch(/^HTTP\/1\.1 403 [\s\S]*authorization failed$/);
  expect(await get("/", "c.test")).toMatch(/^HTTP\/1\.1 503 /);
});

it("an expression computes the destination, with the same addresses allowed", async () => {
  const server = await startServer(echo);
  const addresses = { "a.test": ["127.0.0.1"] };
  const target = `request.headers["x-pod"] + ":" + string(json(request.body).port)`;
  const gateway = await startProxy({ target, allowPrivate: ["127.0.0.1"] }, { addresses });
  const status = async (pod: string, port: unknown = server.port): Promise<string> => {
    const parameters = ["-H", `x-pod: ${pod}`, "-H", "Host: site.test", "-d"];
    return curl(...parameters, JSON.stringify({ port }), `http://127.0.0.1:${gateway.port}/a`);
  };
  expect(await status("a.test")).toMatch(/^site\.test \/a 1\.1 gwc-[0-9a-f]{16} 200$/);
  expect(await status("127.0.0.2")).toMatch(/ 403$/);
  expect(await status("not a host")).toMatch(/ 400$/);
  expect(await status("a.test", gateway.port)).toMatch(/ 403$/);
  const without = curl("-X", "POST", `http://127.0.0.1:${gateway.port}/`);
  expect(await without).toMatch(/^no destination.* 502$/s);
});

it("an expression excludes tunnels, and does not act on connections", () => {
  const errors = (dynamic: object) => findings({ policies: anyone, backends: [{ dynamic }] });
  expect(errors({ target: '"a.test:80"' })).toEqual([]);
  expect(errors({ target: '"a.test:80"', connect: {} })).toEqual(["wrong-choice"]);
  expect(errors({ target: "request.hosts" })).toEqual(["cel-unknown-field"]);
  expect(errors({ target: '"http://a.test/"' })).toEqual(["cel-wrong-result"]);
  expect(errors({ target: "request.method == 'GET'" })).toEqual(["cel-wrong-result"]);
});

it("connections are kept for a bounded number of destinations", async () => {
  const { port, sockets } = await startServer(echo);
  const gateway = await startProxy(
    { allowPrivate: ["127.0.0.1"] },
    { addresses: { "*": ["127.0.0.1"] } },
  );
  const client = new RawClient(gateway.port);
  for (let index = 0; index < 1100; index += 50) {
    for (let each = index; each < index + 50; each++) {
      client.send(`GET /${each} HTTP/1.1\r\nHost: h${each}.test:${port}\r\n\r\n`);
    }
    await client.receives(new RegExp(` /${index + 49} `));
    // The server may accept the newest connections before it sees that the oldest are closed.
    await eventually(() => sockets.size <= 1001 || null, "the end of surplus connections");
  }
});

it("a proxy for anyone is refused when it is built", () => {
  const open = { listeners: [{ routes: [{ backends: [{ dynamic: { port: 80 } }] }] }] };
  expect(refusals(open)).toEqual(["open-proxy"]);
});

it("clients log in to the proxy with Proxy-Authorization, and servers get their Authorization", async () => {
  const seen: (string | undefined)[] = [];
  const { port } = await startServer((request, response) => {
    seen.push(request.headers.authorization, request.headers["proxy-authorization"]);
    response.end("seen");
  });
  const htpasswd = `{SHA}${createHash("sha1").update("secret").digest("base64")}`;
  const gateway = await startProxy(
    { allowPrivate: ["127.0.0.1"], connect: { ports: [port] } },
    { policies: { basicAuth: { htpasswd: `ann:${htpasswd}` } } },
  );
  const target = `127.0.0.1:${port}`;
  const refused = await ask(gateway, `GET http://${target}/ HTTP/1.1\r\nHost: ${target}`);
  expect(refused).toMatch(/^HTTP\/1\.1 407 /);
  expect(refused).toMatch(/^proxy-authenticate: Basic realm="Restricted", charset="UTF-8"\r$/im);
  expect(refused).not.toMatch(/^www-authenticate/im);
  const curl = async (...options: readonly string[]) => {
    const proxy = ["--proxy", gateway.url, "--silent", "--show-error", ...options];
    const { stdout } = await promisify(execFile)(program("curl"), [...proxy, `http://${target}/`]);
    return stdout;
  };
  const login = ["--proxy-user", "ann:secret", "--header", "Authorization: Bearer for-the-server"];
  expect(await curl(...login)).toBe("seen");
  expect(await curl(...login, "--proxytunnel")).toBe("seen");
  expect(seen).toEqual(Array(2).fill(["Bearer for-the-server", undefined]).flat());
  const wrong = ["--proxy-user", "ann:wrong", "--proxytunnel", "--write-out", "%{http_connect}"];
  await expect(curl(...wrong)).rejects.toThrow(/407/);
});

it("a proxy with another location of the credential answers 401", async () => {
  const location = { header: { name: "x-login", prefix: "Basic " } };
  const gateway = await startProxy(
    { allowPrivate: ["127.0.0.1"] },
    {
      policies: {
        basicAuth: { htpasswd: `ann:{SHA}${"A".repeat(27)}=`, authorizationLocation: location },
      },
    },
  );
  const refused = await ask(gateway, "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1");
  expect(refused).toMatch(/^HTTP\/1\.1 401 /);
  expect(refused).toMatch(/^www-authenticate: Basic/im);
});

it.each([
  ["jwtAuth", { issuer: "https://a.example.com", jwks: { url: "http://127.0.0.1:1/keys" } }],
  ["apiKey", { keys: [{ key: "${PATH}" }] }],
])("%s of a proxy answers 407 with a challenge", async (kind, policy) => {
  const gateway = await startProxy({}, { policies: { [kind]: policy } });
  const refused = await ask(gateway, "GET http://a.example.com/ HTTP/1.1\r\nHost: a.example.com");
  expect(refused).toMatch(/^HTTP\/1\.1 407 /);
  expect(refused).toMatch(/^proxy-authenticate: Bearer\r$/im);
});
