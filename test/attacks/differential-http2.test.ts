import fc from "fast-check";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { askHttp1, askHttp2, type RequestHead } from "../http/request-heads.ts";
import { startOrigin } from "./origin.ts";
import { fieldOf, octetsOf } from "./random-requests.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 300 : 10_000;

/** One part in a few is any bytes at all, or a right one with a byte put in. */
const changed = (right: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 6, arbitrary: right },
    {
      weight: 2,
      arbitrary: fc.tuple(right, fc.nat(), fc.nat({ max: 255 })).map(([text, at, code]) => {
        const place = at % (text.length + 1);
        return `${text.slice(0, place)}${String.fromCharCode(code)}${text.slice(place)}`;
      }),
    },
    { weight: 1, arbitrary: octetsOf(6) },
  );

const letterCase = fc.func(fc.boolean());
const method = fc
  .tuple(
    fc.constantFrom("GET", "POST", "DELETE", "OPTIONS", "M-SEARCH", "TRACE"),
    letterCase,
    fc.nat({ max: 3 }),
  )
  .map(([text, isLower, chance]) =>
    chance > 0
      ? text
      : [...text].map((each) => (isLower(each) ? each.toLowerCase() : each)).join(""),
  );
const path = fc.constantFrom(
  "/",
  "/a",
  "/admin",
  "/a/../b",
  "/a%20b",
  "/a?b=c",
  "/%c3%a9",
  "/a;b/c",
  "*",
  "/a%2fb",
);
const authority = fc.constantFrom("a.test", "A.test:80", "[::1]:8080", "127.0.0.1", "a.test.");
/** Fields of the connection are errors in HTTP/2 alone, and stand in the tables of request-heads.test.ts. */
const ofConnection =
  /^(?:connection|content-length|transfer-encoding|keep-alive|proxy-.*|te|trailer|upgrade|expect|x-hop|host)$/i;
const field = fieldOf
  .filter(([name]) => !ofConnection.test(name))
  .chain(([name, value]) =>
    fc.tuple(changed(fc.constant(name.toLowerCase())), changed(fc.constant(value))),
  );

const head: fc.Arbitrary<RequestHead> = fc.record({
  method: changed(method),
  path: changed(path),
  authority: changed(authority),
  fields: fc.array(field, { maxLength: 3 }),
});

/** Fields that nghttp2 removes from a head before the gateway sees it. HTTP/1.1 refuses the whole request for them. */
const isField = ([name, value]: readonly [string, string]) =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t -~\x80-\xff]*$/.test(value);

it("HTTP/2 serves no head that HTTP/1.1 refuses, and forwards the same request", async () => {
  const origin = await startOrigin();
  const { port } = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: origin.host }] }] }],
  });
  let [served, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(head, async (each) => {
      const fields = each.fields.filter(isField);
      const http1 = await askHttp1(port, { ...each, fields });
      const first = origin.requests.splice(0);
      const http2 = await askHttp2(port, each);
      const second = origin.requests.splice(0);
      expect(origin.faults).toEqual([]);
      if (typeof http2 === "number" && http2 < 300) {
        served += 1;
        expect(http1).toBe(http2);
        expect(second).toEqual(first);
      } else {
        refused += 1;
        expect(second).toEqual([]);
      }
    }),
    { seed: 5, numRuns: RUNS },
  );
  expect(served).toBeGreaterThan(RUNS / 10);
  expect(refused).toBeGreaterThan(RUNS / 10);
}, 600_000);
