import { expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";

it("access lines name the route, the listener and both ends of the connection", async () => {
  const echo = await startEcho();
  const add = {
    at: '"%s:%d".format([destination.address, destination.port])',
    peer: "source.rawAddress",
    route: "proxy.route.name",
    on: "proxy.listener.name",
    through: "proxy.gateway.name",
  };
  const gateway = await startGateway({
    file: { config: { logging: { format: "json", fields: { add } } } },
    listeners: [
      { name: "main", routes: [{ name: "one", backends: [{ host: new URL(echo.url).host }] }] },
    ],
  });
  await send(gateway.url, "GET");
  await gateway.stop();
  const line = gateway.output.split("\n").find((each) => each.includes('"scope":"request"'));
  expect(JSON.parse(line ?? "")).toMatchObject({
    at: new URL(gateway.url).host,
    peer: "127.0.0.1",
    route: "one",
    on: "main",
    through: expect.any(String),
  });
});

it("rules read the route that was chosen", async () => {
  const echo = await startEcho();
  const backends = [{ host: new URL(echo.url).host }];
  const authorization = { rules: [{ deny: 'proxy.route.name == "closed"' }, "true"] };
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          { name: "closed", matches: [{ path: { exact: "/closed" } }], backends },
          { name: "open", backends },
        ].map((route) => ({ ...route, policies: { authorization } })),
      },
    ],
  });
  expect(await send(`${gateway.url}/closed`, "GET")).toMatchObject({ status: 403 });
  expect(await send(`${gateway.url}/open`, "GET")).toMatchObject({ status: 200 });
});
