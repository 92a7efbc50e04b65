import { connect } from "node:http2";
import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { openSession, post, toolCall } from "./raw-client.ts";
import { child, many, type Session, sessionOf, startThreads } from "./thread-gateway.ts";

let gateway: Gateway;

beforeAll(async () => {
  const targets = ["one", "two"].map((name) => ({ ...child, name }));
  gateway = await startThreads([{ name: "merged", targets }]);
});

/** A batch of calls of both children. Their order and ids show whose results come back. */
const batchOf = (at: number) => [
  toolCall("two_echo-id", `two-${at}`),
  { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: -1 } },
  toolCall("one_echo-id", `one-${at}`),
  toolCall("three_absent", `none-${at}`),
];

/** Returns the ids of a response, in its order; a refused call is marked. */
function idsOf(text: string): readonly string[] {
  return JSON.parse(text).map(
    ({ id, error, result }: { id: string; error?: object; result?: object }) =>
      error === undefined && result !== undefined ? id : `${id} refused`,
  );
}

const expected = (at: number) => [`two-${at}`, `one-${at}`, `none-${at}`];

it("batches of one session over many connections are answered at every thread", async () => {
  const session = await openSession(gateway.url);
  const responses = await Promise.all(many.map((at) => post(gateway.url, batchOf(at), session)));
  for (const [at, { status, text }] of responses.entries()) {
    expect(status).toBe(200);
    expect(idsOf(text).map((id) => id.replace(" refused", ""))).toEqual(expected(at));
    expect(idsOf(text).slice(0, 2)).toEqual(expected(at).slice(0, 2));
  }
});

it("batches of sessions of all threads do not mix", async () => {
  // One after another: a thread's share of the limit of sessions per caller is 16, and the kernel chooses the thread.
  const sessions: Session[] = [];
  for (const thread of ["0", "1", "2", "0", "1", "2"])
    sessions.push(await sessionOf(gateway.url, thread));
  const responses = await Promise.all(
    many.map((at) => post(gateway.url, batchOf(at), sessions[at % sessions.length])),
  );
  for (const [at, { text }] of responses.entries())
    expect(idsOf(text).slice(0, 2)).toEqual(expected(at).slice(0, 2));
});

it("batches may arrive over HTTP/2, several on one connection", async () => {
  const session = await openSession(gateway.url);
  const { origin, pathname } = new URL(gateway.url);
  const client = connect(origin);
  const sent = (at: number) =>
    new Promise<string>((resolve, reject) => {
      const stream = client.request({
        ":method": "POST",
        ":path": pathname,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "content-length": String(JSON.stringify(batchOf(at)).length),
        ...session,
      });
      let text = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => {
        text += chunk;
      });
      stream.on("error", reject);
      stream.on("end", () => resolve(text));
      stream.end(JSON.stringify(batchOf(at)));
    });
  const texts = await Promise.all(many.map(sent));
  client.close();
  for (const [at, text] of texts.entries())
    expect(idsOf(text).slice(0, 2)).toEqual(expected(at).slice(0, 2));
});
