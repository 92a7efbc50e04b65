import { promisify } from "node:util";
import { brotliCompress, deflate, gzip, zstdCompress } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Compressed to almost nothing. */
const unpacked = 30_000_000;

/**
 * The bombs by their coding, and small ones of the same kind. Their ends are missing: a reader that unpacks all of one
 * finds it damaged, and only a reader that stops earlier finds it too large.
 */
const bombs = new Map<string, Buffer>();
const small = new Map<string, Buffer>();

beforeAll(async () => {
  const zeros = Buffer.alloc(unpacked);
  for (const [coding, compress] of [
    ["gzip", gzip],
    ["deflate", deflate],
    ["br", brotliCompress],
    ["zstd", zstdCompress],
  ] as const) {
    const withoutEnd = async (content: Buffer) =>
      (await promisify<Buffer, Buffer>(compress)(content)).subarray(0, -2);
    bombs.set(coding, await withoutEnd(zeros));
    small.set(coding, await withoutEnd(zeros.subarray(0, 10_000)));
  }
});

const policies: Readonly<Record<string, object>> = {
  rule: { authorization: { rules: [{ deny: 'string(request.body).contains("bad")' }] } },
  change: { transformations: { request: { body: '"<" + string(request.body) + ">"' } } },
  response: { transformations: { response: { body: '"<" + string(response.body) + ">"' } } },
  retry: { retry: { attempts: 1, codes: [503] } },
  mirror: { requestMirror: { backend: { host: "127.0.0.1:1" } } },
  plain: {},
};

async function startTarget(upstream: string): Promise<Gateway> {
  const routes = Object.entries(policies).map(([name, each]) => ({
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: each,
    backends: [{ host: upstream }],
  }));
  const targets = [{ name: "one", mcp: { host: `${upstream}/mcp` } }];
  const mcp = { matches: [{ path: { exact: "/mcp" } }], backends: [{ mcp: { targets } }] };
  return startGateway({ listeners: [{ routes: [mcp, ...routes] }] });
}

/** Many at once; their statuses. */
async function throwAt(
  gateway: Gateway,
  path: string,
  headers: Record<string, string>,
  body?: Buffer,
): Promise<readonly number[]> {
  const url = `http://127.0.0.1:${gateway.port}${path}`;
  const method = body === undefined ? "GET" : "POST";
  const responses = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const response = await fetch(url, { method, headers, ...(body && { body }) });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return [...new Set(responses)];
}

it("a compressed request is refused where its content is read, and passed where it is not", async () => {
  const sizes: number[] = [];
  const upstream = await startUpstream(async (request, response) => {
    let size = 0;
    for await (const chunk of request) size += chunk.length;
    sizes.push(size);
    response.end("ok");
  });
  const gateway = await startTarget(upstream);
  for (const [coding, bomb] of bombs) {
    const headers = { "content-encoding": coding };
    for (const path of ["/rule", "/change"]) {
      const statuses = await throwAt(gateway, path, headers, bomb);
      expect([path, coding, ...statuses]).toEqual([path, coding, 413]);
      const damaged = await throwAt(gateway, path, headers, small.get(coding));
      expect([path, coding, ...damaged]).toEqual([path, coding, 400]);
    }
    expect(sizes).toEqual([]);
    for (const path of ["/retry", "/mirror", "/plain"]) {
      const statuses = await throwAt(gateway, path, headers, bomb);
      expect([path, coding, ...statuses]).toEqual([path, coding, 200]);
      expect(new Set(sizes.splice(0))).toEqual(new Set([bomb.length]));
    }
    const rpc = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    };
    expect(await throwAt(gateway, "/mcp", { ...rpc, ...headers }, bomb)).toEqual([415]);
  }
}, 120_000);

it("a compressed response is a 502 where its content is read", async () => {
  let coding = "";
  const upstream = await startUpstream((request, response) => {
    request.resume();
    response.writeHead(200, { "content-encoding": coding });
    response.end(bombs.get(coding));
  });
  const gateway = await startTarget(upstream);
  for (coding of bombs.keys()) {
    const from = gateway.output.length;
    expect([coding, ...(await throwAt(gateway, "/response", {}))]).toEqual([coding, 502]);
    await gateway.seen(/cannot decode the response: /, from);
    expect(gateway.output.slice(from)).not.toMatch(/cannot decode the response: malformed/);
  }
});

it("a response without end is not read to its end where it is held", async () => {
  let sent = 0;
  let isLeft = false;
  const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
  const upstream = await startRawUpstream((socket) => {
    socket.on("close", () => {
      isLeft = true;
    });
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
    };
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.on("drain", more);
      more();
    });
  });
  const gateway = await startTarget(upstream);
  const { status } = await fetch(`http://127.0.0.1:${gateway.port}/response`);
  expect(status).toBe(502);
  await eventually(() => isLeft || null, "the end upstream");
  expect(sent).toBeLessThan(60_000_000);
});

it("deep and wide JSON is read or refused, and the process lives", async () => {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    response.end("ok");
  });
  const host = upstream;
  const rules = ["json(request.body).a == 1"];
  const body = '{"copy": json(request.body)}';
  const targets = [{ name: "one", mcp: { host: `${upstream}/mcp` } }];
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          { matches: [{ path: { exact: "/mcp" } }], backends: [{ mcp: { targets } }] },
          {
            matches: [{ path: { exact: "/copy" } }],
            policies: { transformations: { request: { body } } },
            backends: [{ host }],
          },
          { policies: { authorization: { rules } }, backends: [{ host }] },
        ],
      },
    ],
  });
  const keys = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join();
  const documents = [
    `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
    `{${keys},"a":1}`,
    `{"a":1,"__proto__":{"a":2},"constructor":1}`,
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`,
  ];
  const headers = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  for (const path of ["/", "/copy", "/mcp"]) {
    for (const text of documents) {
      const url = `http://127.0.0.1:${gateway.port}${path}`;
      const { status } = await fetch(url, { method: "POST", headers, body: text });
      expect(status, `${path} ${text.slice(0, 60)}`).toBeLessThan(500);
    }
  }
  expect(gateway.output).not.toMatch(/bug:|RangeError/);
});

it("a client that vanishes in the middle of an upload leaves nothing behind", async () => {
  const begun = new Set<string | undefined>();
  const aborted = new Set<string | undefined>();
  const upstream = await startUpstream((request) => {
    begun.add(request.url);
    request.on("error", () => aborted.add(request.url));
    request.resume();
  });
  const gateway = await startTarget(upstream);
  const holding = ["/rule", "/change"];
  const streaming = ["/retry", "/mirror", "/plain"];
  for (const path of [...holding, ...streaming]) {
    const controller = new AbortController();
    const upload = new ReadableStream({
      start(stream) {
        stream.enqueue(Buffer.alloc(100_000, "x"));
      },
    });
    const asked = fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      method: "POST",
      body: upload,
      duplex: "half",
      signal: controller.signal,
    }).catch(() => "gone");
    if (holding.includes(path)) await pause(200);
    else await eventually(() => begun.has(path) || null, `${path} upstream`);
    controller.abort();
    expect(await asked).toBe("gone");
  }
  // Those that stream have told the upstream; those that hold have told it nothing.
  await eventually(() => aborted.size === streaming.length || null, "the aborts upstream");
  expect([...begun]).toEqual(streaming);
  expect((await fetch(`http://127.0.0.1:${gateway.port}/nowhere`)).status).toBe(404);
});
