import { Client } from "undici";
import { describe, expect, it } from "vitest";
import { startGateway } from "../../harness/gateway.ts";

// A short table is a chain of conditions and a long one a lookup: what is said here holds for both.

const response = (name: string, rest: object) => ({
  name,
  ...rest,
  policies: { directResponse: { status: 200, body: name } },
});
const at = (path: object, rest: object = {}) => ({ matches: [{ path, ...rest }] });
const only = (hostname: string) => ({ hostnames: [hostname] });

const routes = [
  response("exact", at({ exact: "/exact" })),
  response("below", at({ pathPrefix: "/below" })),
  response("deep", at({ pathPrefix: "/below/deep/" })),
  response("space", at({ exact: "/a%20b" })),
  response("choice", at({ regex: "/this|/that" }, { method: "GET" })),
  response("pattern", at({ regex: "/[0-9]+/x" })),
  response("own", { ...only("a.example.com"), ...at({ pathPrefix: "/own" }) }),
  response("wide", { ...only("*.example.com"), ...at({ pathPrefix: "/own" }) }),
  response("wider", { ...only("*.com"), ...at({ pathPrefix: "/own/er" }) }),
  response("every", at({ pathPrefix: "/own/er/most" })),
];
const fillers = Array.from({ length: 30 }, (_, index) =>
  response(`filler-${index}`, {
    ...(index % 3 === 0 ? only(`*.filler${index}.test`) : {}),
    ...at({ [index % 2 === 0 ? "exact" : "pathPrefix"]: `/filler/${index}` }),
  }),
);

/** Enough rows that the table is in several modules: of one host name and of several. */
const manyRows = [undefined, "*.com", "*.filler.test"].map((hostname, index) =>
  response(`many-${index}`, {
    ...(hostname === undefined ? {} : only(hostname)),
    matches: Array.from({ length: 200 }, (_, row) => ({
      path: row % 3 === 0 ? { regex: `/many/${row}-[a-z]+` } : { pathPrefix: `/many/${row}` },
    })),
  }),
);

/** The body for each request, `METHOD HOST PATH`. */
async function bodies(port: number, requests: readonly string[]): Promise<readonly string[]> {
  const client = new Client(`http://127.0.0.1:${port}`);
  const found: string[] = [];
  for (const request of requests) {
    const [method = "", host = "", path = ""] = request.split(" ");
    const { body } = await client.request({ method: method as "GET", path, headers: { host } });
    found.push(await body.text());
  }
  await client.close();
  return found;
}

describe.each([
  ["a chain", routes],
  ["a lookup", [...fillers, ...routes]],
  ["a lookup in parts", [...manyRows, ...routes]],
])("a listener that is %s", (_, listed) => {
  it("compares paths and hosts as Gateway API says", async () => {
    const { port } = await startGateway({ listeners: [{ name: "web", routes: listed }] });
    const expected = {
      // An exact path is that path; a prefix is whole segments, with a slash at its end or without.
      "GET x.test /exact": "exact",
      "GET x.test /exact?q=/": "exact",
      "GET x.test /exact/": "not found",
      "GET x.test /Exact": "not found",
      "GET x.test /below": "below",
      "GET x.test /below/": "below",
      "GET x.test /below?x": "below",
      "GET x.test /below/deep": "deep",
      "GET x.test /below/deep/er": "deep",
      "GET x.test /below/deeper": "below",
      "GET x.test /belowx": "not found",
      "GET x.test //below": "below",
      // Paths are compared in their one form, and forwarded so.
      "GET x.test /a%20b": "space",
      "GET x.test /bel%6Fw": "below",
      "GET x.test /below/x/../%64eep": "deep",
      // Every alternative of a pattern is under the other conditions of its match.
      "GET x.test /this": "choice",
      "GET x.test /that": "choice",
      "POST x.test /this": "not found",
      "POST x.test /that": "not found",
      "GET x.test /12/x": "pattern",
      "GET x.test /a/12/x": "not found",
      // The most specific host name whose conditions hold, in any case of its letters, with a port or without.
      "GET a.example.com /own": "own",
      "GET A.Example.COM:8080 /own": "own",
      "GET b.example.com /own": "wide",
      "GET c.b.example.com /own": "wide",
      "GET example.com /own": "not found",
      "GET example.com /own/er": "wider",
      "GET a.example.com /below": "below",
      "GET a.example.com /own/er/most": "own",
      "GET b.test /own/er/most": "every",
      "GET [::1]:8080 /own/er/most": "every",
    };
    const found = await bodies(port, Object.keys(expected));
    expect(Object.fromEntries(Object.keys(expected).map((key, i) => [key, found[i]]))).toEqual(
      expected,
    );
    const slashes = `/below${"/".repeat(8000)}`;
    expect(await bodies(port, [`GET ${"a.".repeat(4000)}com ${slashes}`])).toEqual(["below"]);
  });
});

it.each([2, 30])("of %i listeners on a port the most specific one answers alone", async (count) => {
  const listeners = Array.from({ length: count - 1 }, (_, index) => ({
    name: `l${index}`,
    hostname: index % 2 === 0 ? `h${index}.test` : `*.h${index}.test`,
    routes: [response(`r${index}`, at({ pathPrefix: "/own" }))],
  }));
  const rest = {
    name: "rest",
    hostname: "*.test",
    routes: [response("rest", at({ pathPrefix: "/" }))],
  };
  const { port } = await startGateway({ listeners: [rest, ...listeners] });
  const last = count === 2 ? 0 : 27;
  const host = last % 2 === 0 ? `h${last}.test` : `x.y.h${last}.test`;
  expect(
    await bodies(port, [
      `GET ${host}:80 /own`,
      `GET ${host.toUpperCase()} /own/x`,
      `GET ${host} /other`,
      "GET z.test /own",
      "GET test /own",
    ]),
  ).toEqual([`r${last}`, `r${last}`, "not found", "rest", "not found"]);
});
