import { createServer, request as httpRequest, type RequestListener } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";

/** A server that succeeds until the test says otherwise, and counts its requests. */
class Server {
  asked = 0;
  host = "";
  respond: RequestListener = well;

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      this.asked += 1;
      this.respond(request, response);
    });
    this.host = `127.0.0.1:${await listen(server)}`;
    return this;
  }
}

const well: RequestListener = (request, response) => {
  request.resume();
  response.end("well");
};
const badly: RequestListener = (_, response) => {
  response.statusCode = 500;
  response.end();
};

const long = { eviction: { duration: "300s" } };
/** A time limit that a server keeps on a busy machine: one that is silent for as long has failed. */
const longEnough = "5s";

let first: Server;
let second: Server;

beforeEach(async () => {
  [first, second] = await Promise.all([new Server().start(), new Server().start()]);
});

/** A gateway whose route has both servers, or others, by the same share. */
function start(
  policies: object,
  hosts: readonly string[] = [first.host, second.host],
): Promise<Gateway> {
  const backends = hosts.map((host) => ({ host }));
  return startGateway({ listeners: [{ routes: [{ policies, backends }] }] });
}

async function statuses(gateway: Gateway, count: number): Promise<readonly number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i += 1) all.push((await send(gateway.url, "GET")).status);
  return all;
}

/** Asks until a server was asked. */
async function askUntilIn(gateway: Gateway, server: Server): Promise<void> {
  const before = server.asked;
  while (server.asked === before) await send(gateway.url, "GET");
}

describe("a server of several", () => {
  it("that failed is not asked", async () => {
    const gateway = await start({ health: long });
    first.respond = badly;
    await askUntilIn(gateway, first);
    expect(new Set(await statuses(gateway, 40))).toEqual(new Set([200]));
    expect(first.asked).toBe(1);
  });

  it("is asked again after its time", async () => {
    const gateway = await start({ health: { eviction: { duration: "1ms" } } });
    first.respond = badly;
    await askUntilIn(gateway, first);
    first.respond = well;
    await askUntilIn(gateway, first);
  });

  it("may fail as often as the configuration says", async () => {
    const gateway = await start({
      health: { eviction: { ...long.eviction, consecutiveFailures: 3 } },
    });
    first.respond = badly;
    const all = await statuses(gateway, 100);
    expect(all.filter((status) => status === 500)).toHaveLength(3);
  });

  it("fails if the configuration calls its response a failure", async () => {
    const health = { ...long, unhealthyExpression: `"x-busy" in response.headers` };
    const gateway = await start({ health });
    first.respond = badly;
    await askUntilIn(gateway, first);
    await askUntilIn(gateway, first);
    first.respond = (_, response) => response.setHeader("x-busy", "1").end();
    await askUntilIn(gateway, first);
    const { asked } = first;
    await statuses(gateway, 40);
    expect(first.asked).toBe(asked);
  });

  it("fails when it can't be reached, aborts, or takes longer than its route allows", async () => {
    const dead = await start({ health: long }, [`127.0.0.1:${await freePort()}`, second.host]);
    // A request that could not be sent goes to the other one.
    expect((await statuses(dead, 60)).filter((status) => status !== 200)).toEqual([]);
    first.respond = (request) => request.socket.destroy();
    const broken = await start({ health: long });
    expect((await statuses(broken, 60)).filter((status) => status !== 200)).toEqual([502]);
    first.respond = () => {};
    const slow = await start({ health: long, timeout: { requestTimeout: longEnough } });
    await eventually(
      async () => (await statuses(slow, 1)).includes(504) || null,
      "a request that took too long",
    );
    expect(new Set(await statuses(slow, 40))).toEqual(new Set([200]));
  });

  it("is passed by when a request is sent again", async () => {
    const retry = { attempts: 1, codes: [500] };
    const gateway = await start({ health: long, retry });
    first.respond = badly;
    expect(new Set(await statuses(gateway, 40))).toEqual(new Set([200]));
    expect(first.asked).toBe(1);
  });

  it("is asked when all of them failed: nobody could be seen to do better", async () => {
    const gateway = await start({ health: long });
    [first.respond, second.respond] = [badly, badly];
    await Promise.all([askUntilIn(gateway, first), askUntilIn(gateway, second)]);
    [first.respond, second.respond] = [well, well];
    await askUntilIn(gateway, first);
    await askUntilIn(gateway, second);
  });

  it("has not failed when its client takes longer than the route allows", async () => {
    const gateway = await start({ health: long, timeout: { requestTimeout: longEnough } });
    const page = Buffer.alloc(50_000_000, "a");
    const readingAndWriting: RequestListener = (request, response) => {
      if (request.method === "GET") response.end(page);
      else request.resume().on("end", () => response.end());
    };
    [first.respond, second.respond] = [readingAndWriting, readingAndWriting];
    const post = "POST / HTTP/1.1\r\nhost: a\r\n";
    const all = [
      `${post}content-length: 9\r\n\r\nhalf`,
      `${post}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`,
      "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    ].flatMap((bytes) => Array.from({ length: 8 }, () => bytes));
    const from = gateway.output.length;
    const clients = all.map((bytes) => {
      const client = new RawClient(gateway.port);
      client.socket.pause().write(bytes);
      return client;
    });
    await eventually(
      () => gateway.output.slice(from).split('error="request timeout"').length > all.length || null,
      "time limits of all clients",
    );
    for (const { socket } of clients) socket.destroy();
    [first.respond, second.respond] = [well, badly];
    await askUntilIn(gateway, second);
    expect(new Set(await statuses(gateway, 40))).toEqual(new Set([200]));
  });

  it("has not failed when its client leaves", async () => {
    const gateway = await start({ health: long });
    let isRead = 0;
    const reading: RequestListener = (request) => {
      isRead += 1;
      request.resume();
    };
    [first.respond, second.respond] = [reading, reading];
    for (let left = 1; left <= 10; left += 1) {
      const asking = httpRequest(gateway.url, { method: "POST" });
      asking.on("error", () => {});
      asking.write("half of it");
      await eventually(() => isRead === left || null, "the request has come");
      asking.destroy();
      await new Promise((resolve) => asking.once("close", resolve));
    }
    [first.respond, second.respond] = [well, badly];
    await askUntilIn(gateway, second);
    expect(new Set(await statuses(gateway, 40))).toEqual(new Set([200]));
  });
});
