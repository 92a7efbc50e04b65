import { writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { nowhere, startRoutes } from "./routes.ts";

/** A policy that changes what others use, in ways that reading its code does not find. */
const hostile = `import { definePolicy } from "gwc/policy";

const PROTOTYPE = ["proto", "type"].join("");
const of = (value: object, name: string): object => Reflect.get(value, name);
const same = <Value>(value: Value): Value => value;

class Unpaid extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Unpaid";
  }
}

type Tree = { [name: string]: unknown };
function merge(into: Tree, from: Tree): Tree {
  for (const [name, value] of Object.entries(from)) {
    if (typeof value === "object" && value !== null) merge((into[name] ??= {}) as Tree, value as Tree);
    else into[name] = value;
  }
  return into;
}

export default definePolicy({
  provides: { words: "integer" },
  request(request) {
    const json: Tree = JSON.parse(request.headers.get("x-json") ?? "{}");
    switch (request.headers.get("x-do")) {
      case "array":
        Object.assign(of(Array, PROTOTYPE), { map: () => ["stolen"] });
        break;
      case "arrays":
        Object.assign(of(Array, PROTOTYPE), { [Symbol.iterator]: () => [].values() });
        break;
      case "patterns":
        Object.assign(of(RegExp, PROTOTYPE), { exec: () => null });
        break;
      case "function":
        Object.assign(of(of(Array, PROTOTYPE), "push"), { apply: () => {} });
        break;
      case "json":
        Object.assign(same(JSON), { parse: () => ({ admin: true }) });
        break;
      case "key":
        Object.assign(same(crypto.subtle), { importKey: () => {} });
        break;
      case "timer":
        Object.assign(Object.getPrototypeOf(setTimeout(() => {})), { refresh: () => {} });
        break;
      case "iterator":
        Object.assign(Object.getPrototypeOf([].values()), { next: () => ({ done: true }) });
        break;
      case "headers":
        Object.assign(Object.getPrototypeOf(new Headers()), { get: () => null });
        break;
      case "request":
        Object.assign(Object.getPrototypeOf(request), { refuse: () => undefined });
        break;
      case "prototype":
        Object.setPrototypeOf(of(Map, PROTOTYPE), {});
        break;
      case "stack":
        Object.assign(same(Error), { prepareStackTrace: () => "" });
        break;
      case "text":
        Reflect.apply(of(() => {}, ["con", "structor"].join("")) as () => void, undefined, ["1"]);
        break;
      case "merge":
        merge({}, json);
        break;
      case "long": {
        const end = performance.now() + 4000;
        while (performance.now() < end);
        return { words: 3 };
      }
      case "later":
        setTimeout(() => {
          throw new Unpaid("too late");
        });
        return { words: 0 };
      case "unawaited":
        void Promise.reject(new Error("nobody waits"));
        return { words: 0 };
    }
    const counts: Record<string, number> = {};
    for (const word of ["toString", "constructor", "a", "a"]) counts[word] = (Object.hasOwn(counts, word) ? counts[word] ?? 0 : 0) + 1;
    return { words: Object.keys(counts).length };
  },
});
`;

const victim = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  request(request) {
    const admin: unknown = Reflect.get({}, "admin");
    const mapped = [1, 2].map(String).join();
    request.headers.set("x-seen", \`\${String(admin)} \${mapped} \${JSON.stringify(JSON.parse("[1]"))}\`);
    if (new Headers([["a", "b"]]).get("a") !== "b") return request.refuse(418, "no headers");
    return request.refuse(404, request.headers.get("x-seen") ?? "");
  },
});
`;

/** Blocks its thread for a while where no call of its hook is active any more. */
const waits = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  async request(request) {
    const isAfter = request.headers.get("x-do") === "after";
    if (isAfter) await new Promise<void>((done) => setTimeout(done, 10));
    const end = performance.now() + 4000;
    while (performance.now() < end) if (!isAfter) await null;
  },
});
`;

describe("a policy cannot change what the gateway and other policies use", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    const custom = (use: string) => ({ policies: { custom: [{ use }] } });
    gateway = await startRoutes(
      {
        hostile: {
          policies: {
            ...custom("./policies/hostile.ts").policies,
            authorization: { rules: ["custom.words == 3"] },
            directResponse: { status: 200, body: "in" },
          },
          backends: [],
        },
        victim: custom("./policies/victim.ts"),
        waits: { policies: { custom: [{ use: "./policies/waits.ts", timeout: "1s" }] } },
      },
      nowhere,
      {
        "policies/hostile.ts": hostile,
        "policies/victim.ts": victim,
        "policies/waits.ts": waits,
      },
    );
  });
  const act = (what: string, json = "{}") =>
    send(`${gateway.url}/hostile`, "GET", { "x-do": what, "x-json": json });

  it.each([
    ["array", "is part of the language, and cannot be changed"],
    ["arrays", "the policy changed Array.prototype"],
    ["patterns", "the policy changed Array.prototype or RegExp.prototype"],
    ["function", "Cannot define property apply"],
    ["json", "read only property 'parse'"],
    ["key", "read only property 'importKey'"],
    ["timer", "read only property 'refresh'"],
    ["iterator", "read only property 'next'"],
    ["headers", "read only property 'get'"],
    ["request", "read only property 'refuse'"],
    ["prototype", "is not extensible"],
    ["stack", "'prepareStackTrace'"],
    ["text", "text cannot become a function"],
  ])("by assignments: %s", async (what, logged) => {
    expect((await act(what)).status).toBe(500);
    await expect.poll(() => gateway.output).toContain(logged);
    expect((await send(`${gateway.url}/victim`, "GET")).body).toBe("undefined 1,2 [1]");
  });

  it("by JSON of clients that it merges", async () => {
    expect((await act("merge", '{"__proto__":{"admin":true}}')).status).toBe(500);
    await expect.poll(() => gateway.output).toContain("Cannot add property admin");
    expect((await send(`${gateway.url}/victim`, "GET")).body).toBe("undefined 1,2 [1]");
  });

  it("and a hook that does not return is named while it runs", async () => {
    const response = act("long");
    await expect
      .poll(() => gateway.output)
      .toMatch(/error: custom policy hostile has not returned for \d{4} ms: all requests/);
    expect((await response).status).toBe(200);
    await expect.poll(() => gateway.output).toContain("hostile blocked all requests for");
  });

  it.each(["turns", "after"])(
    "and an async hook that blocks after an await is named, and fails: %s",
    async (how) => {
      const from = gateway.output.length;
      const response = send(`${gateway.url}/waits`, "GET", { "x-do": how });
      await expect
        .poll(() => gateway.output.slice(from))
        .toMatch(
          /error: async hooks of custom policies run \(waits\), and all requests of their thread have waited for \d+ ms/,
        );
      expect((await response).status).toBe(500);
      await expect.poll(() => gateway.output.slice(from)).toContain("took longer than 1000 ms");
    },
  );

  it("but uses names of the language for its own members", async () => {
    expect((await act("nothing")).status).toBe(200);
  });

  it.each([
    ["later", "Unpaid: too late"],
    ["unawaited", "Error: nobody waits"],
  ])("and its errors outside of hooks name its line: %s", async (what, logged) => {
    await act(what);
    await expect
      .poll(() => gateway.output)
      .toMatch(
        new RegExp(
          `error: policies/hostile.ts failed outside of a hook: ${logged} \\(policies/hostile.ts:\\d+\\)`,
        ),
      );
    expect((await act("nothing")).status).toBe(200);
  });
});

const loading = (text: string) => `import { definePolicy } from "gwc/policy";
${text}
export default definePolicy({
  request(request) {
    return request.refuse(403, "loaded");
  },
});
`;

it("a module that throws while it is loaded stops the start of a gateway, which names it", async () => {
  const own = loading('Object.assign(Reflect.get(Array, ["proto", "type"].join("")), { map: 1 });');
  const custom = [{ use: "./policies/own.ts" }];
  const started = startRoutes({ own: { policies: { custom } } }, nowhere, {
    "policies/own.ts": own,
  }).then(
    () => "",
    (error: unknown) => String(error),
  );
  expect(await started).toMatch(
    /error: policies\/own\.ts cannot be loaded: TypeError: .*"map".* \(policies\/own\.ts:2\)/,
  );
});

it("gwc run keeps the last version if a module throws while it is loaded", async () => {
  const port = await freePort();
  const routes = [{ policies: { custom: [{ use: "./policies/own.ts" }] }, backends: [] }];
  const folder = temporaryFolder({
    "gateway.yaml": JSON.stringify({ binds: [{ port, listeners: [{ routes }] }] }).replace(
      '"backends":[]',
      '"backends":[{"host":"127.0.0.1:1"}]',
    ),
    "policies/own.ts": loading(""),
  });
  const env = {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
    ADMIN_ADDR: "127.0.0.1:0",
  };
  const running = new GwcProcess(["run", "-f", path.join(folder, "gateway.yaml")], { env });
  await running.seen(/listening on/);
  const write = (text: string) =>
    writeFileSync(path.join(folder, "policies/own.ts"), loading(text));
  write('throw new Error("not today");');
  await running.seen(
    /policies\/own\.ts cannot be loaded: Error: not today \(policies\/own\.ts:2\)/,
  );
  // `this` of the module would be the global object if the gateway evaluated it as a script.
  write('if (Reflect.ownKeys(Object(this)).length > 0) throw new Error("all is mine");');
  await running.seen(/changed: /);
  const { status, body } = await send(`http://127.0.0.1:${port}/`, "GET");
  expect([status, body]).toEqual([403, "loaded"]);
});
