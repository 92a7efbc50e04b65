import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

const listeners = [
  {
    routes: [
      {
        policies: {
          apiKey: { keys: [{ key: "${FIRST_KEY}" }, { file: "keys/second" }] },
          backendAuth: { key: { file: "token" } },
        },
        backends: [{ host: "http://${UPSTREAM}" }, { host: "${OTHER:-127.0.0.1:1}" }],
      },
    ],
  },
];

it("everything missing at the start is reported together, each with its place", async () => {
  const route = "binds\\[\\d+\\]\\.listeners\\[\\*\\]\\.routes\\[/\\]";
  const lines = [
    "error: 4 things are missing:",
    `  the environment variable FIRST_KEY is not set \\(\\S+ ${route}\\.policies\\.apiKey.*\\)`,
    `  there is no file \\S+/keys/second \\(\\S+ ${route}\\.policies\\.apiKey.*\\)`,
    `  the environment variable UPSTREAM is not set \\(\\S+ ${route}\\.backends\\[0\\].*\\)`,
    `  there is no file \\S+/token \\(\\S+ ${route}\\.backends\\[0\\].*\\)`,
  ];
  const message = await startGateway({ listeners, env: { LOG_FORMAT: "text" } }).then(
    () => "",
    (error: unknown) => String(error),
  );
  for (const line of lines) expect(message).toMatch(new RegExp(`^${line}$|${line}\\n`, "m"));
});

it("what is there does not keep a gateway from starting", async () => {
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: "http://${UPSTREAM}" }] }] }],
    env: { UPSTREAM: "127.0.0.1:1" },
  });
  expect(gateway.port).toBeGreaterThan(0);
});

it("a gateway loads no client of node's that it has no use for", async () => {
  const tell = 'process.on("exit", () => console.log(process.moduleLoadList.join()))';
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}` };
  const upstream = await startUpstream((_request, response) => response.end("ok"));
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream }] }] }],
    env,
  });
  expect(await (await fetch(gateway.url)).text()).toBe("ok");
  await gateway.stop();
  expect(gateway.output).toContain("NativeModule net,");
  expect(gateway.output).not.toContain("undici");
});
