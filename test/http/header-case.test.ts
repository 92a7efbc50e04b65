import { createServer } from "node:http";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";

/** The lines of the head that a client gets, and the names that the server gets. */
async function headsWith(http: object): Promise<{ response: string[]; request: string[] }> {
  const request: string[] = [];
  const server = createServer(({ rawHeaders }, response) => {
    request.push(...rawHeaders.filter((_, index) => index % 2 === 0));
    response.writeHead(200, ["X-Served-By", "A:B", "Trailer", "X-End"]);
    response.addTrailers({ "X-End": "1" });
    response.end("body");
  });
  const host = `127.0.0.1:${await listen(server)}`;
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host }] }] }],
    file: { frontendPolicies: { http } },
  });
  const client = new RawClient(gateway.port);
  client.send(
    "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nX-Asked: 1\r\nConnection: close\r\n\r\n",
  );
  await client.closes();
  const [head = "", rest = ""] = client.received.split("\r\n\r\n", 2);
  const lines = [...head.split("\r\n").slice(1), ...rest.split("\r\n")];
  return { response: lines.map((line) => line.split(":")[0] ?? ""), request };
}

it("names of a response are in lower case, values as received", async () => {
  const { response, request } = await headsWith({ http1HeaderCase: "lowercase" });
  expect(response).toEqual(expect.arrayContaining(["x-served-by", "date", "connection"]));
  expect(response.filter((name) => /[A-Z]/.test(name))).toEqual([]);
  expect(request).toContain("X-Asked");
});

it("names of a response are as received by default", async () => {
  const { response } = await headsWith({ http1HeaderCase: "preserve" });
  expect(response).toContain("X-Served-By");
});
