import { beforeAll, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, type Echoed, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

/** The result of replacing the prefix `/foo`, by its replacement: the table of Gateway API's HTTPPathModifier. */
const prefixes = [
  ["/foo/bar", "/foo", "/xyz", "/xyz/bar"],
  ["/foo/bar", "/foo", "/xyz/", "/xyz/bar"],
  ["/foo/bar", "/foo/", "/xyz", "/xyz/bar"],
  ["/foo/bar", "/foo/", "/xyz/", "/xyz/bar"],
  ["/foo", "/foo", "/xyz", "/xyz"],
  ["/foo/", "/foo", "/xyz", "/xyz/"],
  ["/foo/bar", "/foo", "/", "/bar"],
  ["/foo/", "/foo", "/", "/"],
  ["/foo", "/foo", "/", "/"],
  ["/foo/bar", "/foo", "", "/bar"],
  ["/foo", "/foo", "", "/"],
  ["/foo/bar", "", "/xyz", "/xyz/foo/bar"],
  ["/foo?a=/foo", "/foo", "/xyz", "/xyz?a=/foo"],
  ["/bar/x", "/", "/xyz", "/xyz/bar/x"],
] as const;

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const rewrite = (urlRewrite: object, paths?: readonly Record<string, string>[]) => ({
    policies: { urlRewrite },
    ...(paths === undefined ? {} : { paths }),
  });
  gateway = await startRoutes(
    {
      full: rewrite({ path: { full: "/all" } }),
      exact: rewrite({ path: { full: "/one" } }, [{ exact: "/exact" }]),
      nested: rewrite({ path: { prefix: "/n" } }, [
        { pathPrefix: "/nested" },
        { pathPrefix: "/nested/deep" },
      ]),
      "authority-full": rewrite({ authority: { full: "a.example:81" } }),
      "authority-host": rewrite({ authority: { host: "b.example" } }),
      "authority-port": rewrite({ authority: { port: 82 } }),
      "authority-auto": rewrite({ authority: "auto" }),
      "authority-none": rewrite({ authority: "none" }),
      both: rewrite({ authority: { full: "c.example" }, path: { prefix: "/" } }),
    },
    upstream,
  );
});

async function seen(target: string): Promise<{ url: string; host: string | undefined }> {
  const response = await call(`${gateway.url}${target}`, { host: "shop.example:8080" });
  const { url, headers }: Echoed = JSON.parse(response.body);
  return { url, host: headers.host };
}

describe("the path", () => {
  it("is replaced as a whole without the query", async () => {
    expect((await seen("/full/a/b?q=1%20&q=/full")).url).toBe("/all?q=1%20&q=/full");
    expect((await seen("/exact")).url).toBe("/one");
  });

  it("loses the longest prefix that the route matched", async () => {
    expect((await seen("/nested/x")).url).toBe("/n/x");
    expect((await seen("/nested/deep/x")).url).toBe("/n/x");
    expect((await seen("/nested/deeper/x")).url).toBe("/n/deeper/x");
  });

  it("has its prefix replaced as in Gateway API", async () => {
    const routes = Object.fromEntries(
      prefixes.map(([, prefix, replacement], index) => [
        `r${index}`,
        {
          policies: { urlRewrite: { path: { prefix: replacement } } },
          paths: [{ pathPrefix: `/r${index}${prefix}` }],
        },
      ]),
    );
    const table = await startRoutes(routes, upstream);
    try {
      const found: string[] = [];
      for (const [index, [path]] of prefixes.entries()) {
        const response = await call(`${table.url}/r${index}${path}`, {});
        found.push((JSON.parse(response.body) as Echoed).url);
      }
      expect(found).toEqual(prefixes.map(([, , , expected]) => expected));
    } finally {
      await table.stop();
    }
  });

  it("has no prefix to replace if it was matched otherwise", () => {
    const policies = { urlRewrite: { path: { prefix: "/x" } } };
    expect(findings({ policies, paths: [{ exact: "/a" }] })).toEqual(["needs-prefix-match"]);
    expect(findings({ policies, paths: [{ regex: "/a.*" }] })).toEqual(["needs-prefix-match"]);
  });
});

it("Host is replaced, entirely or partly", async () => {
  expect((await seen("/authority-full")).host).toBe("a.example:81");
  expect((await seen("/authority-host")).host).toBe("b.example:8080");
  expect((await seen("/authority-port")).host).toBe("shop.example:82");
  expect((await seen("/authority-auto")).host).toBe(new URL(upstream.url).host);
  expect((await seen("/authority-none")).host).toBe("shop.example:8080");
  expect(await seen("/both/x")).toEqual({ url: "/x", host: "c.example" });
});

it("a path of calls that have paths of their own is a warning", () => {
  const backend = { ai: { provider: { openAI: {} }, hostOverride: "127.0.0.1:9" } };
  const codes = (routes: object) =>
    findings({
      policies: { urlRewrite: { path: { prefix: "" } }, ai: { routes } },
      paths: [{ pathPrefix: "/openai" }],
      backends: [backend],
    });
  expect(codes({ "/v1/chat/completions": "completions" })).toEqual(["idle-model-field"]);
  expect(codes({ "*": "passthrough" })).toEqual([]);
});
