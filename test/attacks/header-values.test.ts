import { connect } from "node:http2";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startOrigin } from "./origin.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 200 : 5_000;

/** Any text that a client can make an expression return. */
const decoded = 'string(base64.decode(request.headers["x-text"]))';

async function startTarget() {
  const origin = await startOrigin();
  const values = { set: { "x-value": decoded }, add: { "x-added": decoded } };
  const policies = { transformations: { request: values, response: values } };
  const gateway = await startGateway({
    listeners: [{ routes: [{ policies, backends: [{ host: origin.host }] }] }],
  });
  return { origin, port: gateway.port };
}

/** Texts of all kinds, most of them with what ends a field or a head. */
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\r\n",
        "\n",
        "\r",
        "\0",
        "\r\n\r\n",
        ": ",
        "x-forged: 1",
        "\u2028",
        "\u010a",
      ),
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

/**
 * Returns the value that a field may have (RFC 9110 5.5): the string as Latin-1 if possible, otherwise as UTF-8;
 * `undefined` if no value is allowed.
 */
function fieldOf(text: string): string | undefined {
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(text)) return undefined;
  const isLatin1 = !/[^\0-\xff]/.test(text);
  const octets = isLatin1 ? text : Buffer.from(text).toString("latin1");
  return octets.replace(/^[\t ]+|[\t ]+$/g, "");
}

it("no value of an expression ends its header, in requests or responses", async () => {
  const { origin, port } = await startTarget();
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const client = new RawClient(port);
      // Expressions cannot produce strings that are not Unicode either.
      const sent = Buffer.from(text.toWellFormed());
      const wanted = fieldOf(sent.toString());
      const fields = `Host: a\r\nX-Text: ${sent.toString("base64")}\r\nConnection: close`;
      client.send(`GET / HTTP/1.1\r\n${fields}\r\n\r\n`);
      await client.closes();
      client.socket.destroy();
      const [request] = origin.requests.splice(0);
      const extra = request?.headers.filter(
        ([name]) => !/^(?:host|x-text|connection)$/i.test(name),
      );
      const values = wanted === undefined ? [] : [wanted, wanted];
      expect(new Set(extra?.map(([name]) => name))).toEqual(
        new Set(wanted === undefined ? [] : ["x-value", "x-added"]),
      );
      expect(extra?.map(([, value]) => value)).toEqual(values);
      const head = client.received.split("\r\n\r\n", 1)[0]?.split("\r\n") ?? [];
      expect(head[0]).toBe("HTTP/1.1 200 OK");
      const known = /^(?:content-length|date|connection|x-value|x-added): ?(.*)$/i;
      expect(head.slice(1).filter((line) => !known.test(line))).toEqual([]);
      const found = head
        .filter((line) => line.startsWith("x-"))
        .map((line) => known.exec(line)?.[1]);
      expect(found).toEqual(values);
    }),
    { seed: 5, numRuns: RUNS },
  );
  expect(origin.faults).toEqual([]);
}, 300_000);

it("the same holds for clients of HTTP/2", async () => {
  const { origin, port } = await startTarget();
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const sent = Buffer.from(text.toWellFormed());
      const wanted = fieldOf(sent.toString());
      const stream = session.request({ ":path": "/", "x-text": sent.toString("base64") });
      stream.resume();
      const headers = await new Promise<Readonly<Record<string, unknown>>>((resolve, reject) =>
        stream.on("response", resolve).on("error", reject),
      );
      expect(headers[":status"]).toBe(200);
      expect([headers["x-value"], headers["x-added"]]).toEqual([wanted, wanted]);
      expect(headers).not.toHaveProperty("x-forged");
    }),
    { seed: 6, numRuns: RUNS },
  );
  expect(origin.faults).toEqual([]);
}, 300_000);
