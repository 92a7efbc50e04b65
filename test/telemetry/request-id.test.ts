import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

it("a well-formed request id is kept, forwarded and logged; others are replaced", async () => {
  const upstream = await startUpstream((request, response) =>
    response.end(String(request.headers["x-correlation"])),
  );
  const gateway = await startGateway({
    file: { frontendPolicies: { requestId: { header: "X-Correlation" } } },
    listeners: [{ name: "http", routes: [{ name: "all", backends: [{ host: upstream }] }] }],
  });
  const ask = async (given?: string): Promise<string> => {
    const headers = given === undefined ? {} : { "x-correlation": given };
    return (await fetch(gateway.url, { headers })).text();
  };
  const made = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  expect(await ask("order-17/a")).toBe("order-17/a");
  expect(await ask()).toMatch(made);
  expect(await ask("two words")).toMatch(made);
  expect(await ask("a".repeat(129))).toMatch(made);
  const last = await ask();
  await gateway.seen(new RegExp(`request\\.id=${last}`));
  expect(gateway.output).toContain("request.id=order-17/a");
});
