import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { everythingScript } from "../harness/everything-server.ts";
import { freePorts } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { pythonFor } from "../harness/python.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { connectSession } from "./session-client.ts";
import { answerServers, connectStateless } from "./stateless-client.ts";
import { as } from "./subjects.ts";

const scriptOf = (name: string) => path.join(import.meta.dirname, "python", name);
let gateway: Gateway;
let cancelled: string;
let clientOne: TestProcess;
let clientTwo: TestProcess;
const url = (route: string) => gateway.url.replace("/mcp", `/${route}`);

beforeAll(async () => {
  const [one, two] = await Promise.all([pythonFor("tests"), pythonFor("newest")]);
  // Loading an SDK takes a second of CPU time, so one process runs all of its clients, one after the other.
  clientOne = new TestProcess(one, [scriptOf("client_v1.py")]);
  clientTwo = new TestProcess(two, [scriptOf("client_v2.py")]);
  cancelled = path.join(temporaryFolder({ cancelled: "" }), "cancelled");
  const loaded = await Promise.all([
    loadedServer(one, "server_v1"),
    loadedServer(two, "server_v2"),
  ]);
  const [first, second] = await freePorts(2);
  const [onePort, twoPort] = [String(first), String(second)];
  const started = [
    new TestProcess(one, [...loaded[0], onePort]),
    new TestProcess(two, [...loaded[1], twoPort]),
    new TestProcess(process.execPath, [ownScript("conformance/mcp-server.ts")]),
    new TestProcess(process.execPath, [
      ownScript("conformance/stateless-server.ts"),
      "http",
      "reject",
    ]),
  ] as const;
  await Promise.all([started[0].seen(/running on/), started[1].seen(/running on/)]);
  const [[, sessions], [, stateless]] = await Promise.all([
    started[2].seen(/port (\d+)/),
    started[3].seen(/port (\d+)/),
  ]);
  const http = (name: string, port: string | undefined) => ({
    name,
    mcp: { host: `http://127.0.0.1:${port}/mcp` },
  });
  const stdio = (name: string, cmd: string, args: readonly string[]) => ({
    name,
    stdio: { cmd, args },
  });
  const children = {
    one: stdio("one", one, loaded[0]),
    two: stdio("two", two, loaded[1]),
  };
  const routes = [
    { name: "one-http", path: "/one-http", targets: [http("one", onePort)] },
    { name: "one-stdio", path: "/one-stdio", targets: [children.one] },
    { name: "two-http", path: "/two-http", targets: [http("two", twoPort)] },
    { name: "two-stdio", path: "/two-stdio", targets: [children.two] },
    { name: "merged", path: "/merged", targets: [children.one, http("two", twoPort)] },
    { name: "sessions", path: "/sessions", targets: [http("ts", sessions)] },
    { name: "stateless", path: "/stateless", targets: [http("ts", stateless)] },
    {
      name: "everything",
      path: "/everything",
      targets: [stdio("every", process.execPath, [everythingScript()])],
    },
  ];
  gateway = await startMcpGateway(routes.map((route) => ({ ...route, hasSubjects: true })));
});

/**
 * Returns the arguments that start a server in a Python process in which another one has loaded the module: loading an SDK
 * takes as long.
 */
async function loadedServer(python: string, module: string): Promise<readonly string[]> {
  const socket = path.join(temporaryFolder(), "socket");
  const loader = new TestProcess(python, [scriptOf("loaded.py"), "serve", socket, module], {
    env: { CANCELLED: cancelled },
  });
  await loader.seen(/loaded/);
  return ["-S", scriptOf("loaded.py"), socket];
}

/** The clients of the two SDKs, with the revision that they then speak. */
const clients = {
  "1.x": () => ({ process: clientOne, mode: "", revision: "2025-11-25" }),
  "2.x, without sessions": () => ({
    ...{ process: clientTwo, mode: "2026-07-28", revision: "2026-07-28" },
  }),
  "2.x, with sessions": () => ({ process: clientTwo, mode: "legacy", revision: "2025-11-25" }),
  "2.x, any": () => ({ process: clientTwo, mode: "auto", revision: "2026-07-28" }),
};

/** Connects a client and runs some steps; returns their results. */
async function found(client: keyof typeof clients, route: string, steps: readonly object[]) {
  const { process, mode, revision } = clients[client]();
  const from = process.stdout.length;
  const task = { url: url(route), token: as("ada").authorization, steps, mode };
  process.write(`${JSON.stringify(task)}\n`);
  await expect.poll(() => process.stdout.slice(from)).toContain("\n");
  const { version, results, error } = JSON.parse(process.stdout.slice(from));
  expect(error).toBeUndefined();
  expect(version).toBe(revision);
  return results;
}

/** The steps after which the server announces other tools. */
const change = {
  ...{ do: "hear", call: "test_trigger_tool_change" },
  methods: ["notifications/tools/list_changed"],
};
const said = (text: string, progress: readonly number[] = []) => ({ text, progress });
const countCancelled = () => readFileSync(cancelled, "utf8").split("\n").length - 1;

const isLong = process.env.GWC_LONG_TESTS === "1";
const tested: readonly (keyof typeof clients)[] = [
  ...(["1.x", "2.x, without sessions"] as const),
  ...(isLong ? (["2.x, with sessions"] as const) : []),
];

describe.each(tested)("a Python client %s", (client) => {
  it.each([
    ["one-http", [["", ""]]],
    ["one-stdio", [["", ""]]],
    ["two-http", [["", ""]]],
    ["two-stdio", [["", ""]]],
    [
      "merged",
      [
        ["one_", "one+"],
        ["two_", "two+"],
      ],
    ],
  ] as const)("finds all of a Python server behind /%s %j", async (route, prefixes) => {
    const before = countCancelled();
    const results = await found(
      client,
      route,
      prefixes.flatMap(([prefix, uriPrefix]) => [
        { do: "call", name: `${prefix}add`, arguments: { a: 1, b: 2 } },
        { do: "call", name: `${prefix}steps` },
        { do: "call", name: `${prefix}ask_user` },
        { do: "call", name: `${prefix}ask_model` },
        { do: "call", name: `${prefix}ask_roots` },
        { do: "prompt", name: `${prefix}greet`, arguments: { name: "Ada" } },
        { do: "read", uri: `${uriPrefix}memo://note` },
        { do: "cancel", name: `${prefix}wait` },
        { do: "tools" },
      ]),
    );
    const count = results.length / prefixes.length;
    for (const [index, [prefix]] of prefixes.entries()) {
      const own = results.slice(index * count, (index + 1) * count);
      expect(own.slice(0, -1)).toEqual([
        said("3"),
        said("done", [0, 1, 2]),
        said("Hello, my name!"),
        said("The model says Paris"),
        said("['file:///r']"),
        "Greet Ada.",
        "a note",
        true,
      ]);
      expect(own.at(-1)).toContain(`${prefix}ask_user`);
    }
    await expect.poll(countCancelled).toBeGreaterThanOrEqual(before + prefixes.length);
  });

  it.each(["sessions", "stateless"])("can use all of a TypeScript server, /%s", async (route) => {
    const results = await found(client, route, [
      { do: "call", name: "test_input_required_result_elicitation" },
      { do: "call", name: "test_input_required_result_sampling" },
      { do: "call", name: "test_input_required_result_list_roots" },
      { do: "call", name: "test_input_required_result_multi_round" },
      { do: "call", name: "test_tool_with_progress" },
      { do: "prompt", name: "test_simple_prompt", arguments: {} },
      { do: "read", uri: "test://static-text" },
      ...(route === "stateless" ? [change] : []),
    ]);
    expect(results).toMatchObject([
      said("Hello, my name!"),
      { text: expect.stringContaining("Paris") },
      { text: expect.stringContaining("file:///r") },
      { text: expect.stringContaining("complete") },
      { progress: [0, 50, 100] },
      "This is a simple prompt for testing.",
      "This is the content of the static text resource.",
      ...(route === "stateless" ? [true] : []),
    ]);
  });

  it("can use the everything server", async () => {
    const results = await found(client, "everything", [
      { do: "tools" },
      { do: "call", name: "echo", arguments: { message: "a" } },
      { do: "call", name: "trigger-sampling-request", arguments: { prompt: "p" } },
      { do: "call", name: "get-roots-list" },
      {
        ...{ do: "call", name: "trigger-long-running-operation" },
        arguments: { duration: 0.3, steps: 3 },
      },
    ]);
    expect(results.slice(1)).toMatchObject([
      said("Echo: a"),
      { text: expect.stringContaining("Paris") },
      { text: expect.stringContaining("file:///r") },
      { progress: [1, 2, 3] },
    ]);
  });
});

// Python servers announce it only in the revision without sessions.
it.each([
  ["two-http", "", ""],
  ["two-stdio", "", ""],
  ["merged", "two_", "two+"],
])("a Python client gets changes of a Python server behind /%s", async (...where) => {
  const [route, prefix, uriPrefix] = where;
  const methods = ["notifications/resources/updated", "notifications/tools/list_changed"];
  const uri = `${uriPrefix}memo://note`;
  const steps = [{ do: "hear", uri, call: `${prefix}touch`, methods }];
  expect(await found("2.x, without sessions", route, steps)).toEqual([true]);
});

it("a Python client prefers the revision without sessions", async () => {
  expect(await found("2.x, any", "one-http", [])).toEqual([]);
});

describe.each([
  ["with sessions", (at: string) => connectSession(at)],
  ["without sessions", connectWithAnswers],
] as const)("a TypeScript client %s", (_kind, connect) => {
  it.each(["one-http", "one-stdio", "two-http", "two-stdio"])(
    "can use all of a Python server behind /%s",
    async (route) => {
      const client = await connect(url(route));
      const call = async (name: string, args = {}) =>
        JSON.stringify((await client.callTool({ name, arguments: args })).content);
      expect(await call("add", { a: 1, b: 2 })).toContain('"3"');
      expect(await call("ask_user")).toContain("Hello, my name!");
      expect(await call("ask_model")).toContain("sampled");
      expect(await call("ask_roots")).toContain("file:///r");
      const prompt = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
      expect(JSON.stringify(prompt)).toContain("Greet Ada.");
      const { contents } = await client.readResource({ uri: "memo://note" });
      expect(contents).toMatchObject([{ text: "a note" }]);
      await client.close();
    },
  );
});

async function connectWithAnswers(at: string) {
  const client = await connectStateless(at, {
    capabilities: { sampling: {}, elicitation: { form: {} }, roots: {} },
  });
  answerServers(client, { name: "my name" });
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///r" }] }));
  return client;
}
