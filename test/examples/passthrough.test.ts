import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcp, type Server } from "node:net";
import path from "node:path";
import { connect, createServer as createTls } from "node:tls";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { startExample } from "../harness/example-gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { root } from "../harness/root.ts";
import { program } from "../harness/tool.ts";

const certs = path.join(root, "examples/tls/certs");

async function listening(server: Server, port = 0): Promise<string> {
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A TLS server that says its name. */
function secure(name: string): Promise<string> {
  const key = {
    cert: readFileSync(path.join(certs, "localhost.crt")),
    key: readFileSync(path.join(certs, "localhost.key")),
  };
  return listening(createTls(key, (socket) => socket.end(`${name} for ${socket.servername}`)));
}

function hear(port: number, servername: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, servername, rejectUnauthorized: false });
    socket.on("data", (chunk) => resolve(String(chunk)));
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

it("passthrough: TLS by its server name, a database's port, and a forward proxy", async () => {
  const shop = await secure("shop");
  const site = createServer((request, response) => response.end(`site ${request.headers.host}`));
  const siteAddress = await listening(site);
  const example = await startExample("passthrough", {
    SHOP: shop,
    SHOP_NEXT: shop,
    TENANTS: await secure("tenants"),
    DATABASE: await listening(createTcp((socket) => socket.end("database"))),
  });
  const port = (configured: number) => example.ports.get(configured) ?? 0;
  expect(await hear(port(8443), "shop.example.com")).toBe("shop for shop.example.com");
  expect(await hear(port(8443), "a.b.example.com")).toBe("tenants for a.b.example.com");
  expect(await hear(port(8443), "example.com")).toBe("ECONNRESET");
  await new RawClient(port(5432), { allowHalfOpen: true }).receives("database");
  const curl = async (url: string) => {
    const proxy = ["-x", `http://127.0.0.1:${port(3128)}`, "--noproxy", ""];
    const run = promisify(execFile);
    return (await run(program("curl"), ["-s", "-w", " %{http_code}", ...proxy, url])).stdout;
  };
  // Nobody listens there, but the rules and the addresses would allow it.
  expect(await curl("http://localhost:8081/")).toMatch(/ (200|404|503)$/);
  expect(await curl(`http://${siteAddress}/`)).toBe("authorization failed 403");
});
