import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";

/** More routes than a table in `main.ts` has. */
const COUNT = 600;

it("every route of a long table is served, whether its handler is in the table or in a module", async () => {
  const [even = "", odd = ""] = await Promise.all(
    ["even", "odd"].map((name) =>
      startUpstream((request, response) => {
        response.end(`${name} ${request.url} ${request.headers["x-tag"]}`);
      }),
    ),
  );
  const special: Readonly<Record<number, object>> = {
    3: { hostnames: ["a.test", "b.test"] },
    4: { policies: { directResponse: { status: 203, body: "direct" } }, backends: [] },
    5: { policies: { requestHeaderModifier: { set: { "x-tag": "five" } } } },
    6: { backends: [{ host: even, weight: 0 }] },
    7: { backends: [{ host: even }, { host: odd, weight: 0 }] },
    8: {
      backends: [{ host: even, policies: { requestHeaderModifier: { set: { "x-tag": "8" } } } }],
    },
  };
  const routes = Array.from({ length: COUNT }, (_, at) => ({
    name: `route-${at}`,
    hostnames: ["a.test"],
    matches: [{ path: { pathPrefix: `/of/${at}` } }],
    backends: [{ host: at % 2 === 0 ? even : odd }],
    ...special[at],
  }));
  const gateway = await startGateway({ listeners: [{ name: "web", routes }] });
  const ask = async (target: string, host = "a.test") => {
    const { status, body } = await send(`${gateway.url}${target}`, "GET", { host });
    return `${status} ${body}`;
  };
  for (let at = 10; at < COUNT; at += 31)
    expect(await ask(`/of/${at}/x?y=z`)).toBe(
      `200 ${at % 2 === 0 ? "even" : "odd"} /of/${at}/x?y=z undefined`,
    );
  expect(await ask("/of/3", "b.test")).toBe("200 odd /of/3 undefined");
  expect(await ask("/of/4")).toBe("203 direct");
  expect(await ask("/of/5")).toBe("200 odd /of/5 five");
  expect(await ask("/of/6")).toMatch(/^500 /);
  expect(await ask("/of/7")).toBe("200 even /of/7 undefined");
  expect(await ask("/of/8")).toBe("200 even /of/8 8");
  expect(await ask(`/of/${COUNT}`)).toMatch(/^404 /);
  await eventually(
    () => /route=route-10 endpoint=\S+ .*http\.path=\/of\/10\/x/.test(gateway.output),
    "a line of a route in the table",
  );
  expect(existsSync(path.join(gateway.folder, "routes/route10.ts"))).toBe(false);
  expect(existsSync(path.join(gateway.folder, "routes/route5.ts"))).toBe(true);
  const tables = globSync("tables/*.ts", { cwd: gateway.folder });
  const text = tables.map((file) => readFileSync(path.join(gateway.folder, file), "utf8")).join("");
  expect(text.split("forwardingTo({").length - 1).toBeGreaterThan(COUNT - 10);
});
