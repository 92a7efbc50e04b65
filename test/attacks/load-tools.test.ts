import { expect } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { itWith, runTool } from "../harness/tool.ts";
import { startUpstream } from "../harness/upstream.ts";

/** A gateway before a small response, over TLS or plain. */
async function startServed(isTls: boolean): Promise<Gateway> {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    response.end("a small response");
  });
  const routes = [{ backends: [{ host: upstream }] }];
  if (!isTls) return startGateway({ listeners: [{ routes }] });
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  const tls = { cert: "site.pem", key: "site.key" };
  return startGateway({ folder, listeners: [{ protocol: "HTTPS", tls, routes }] });
}

/** Requests of one run. */
const count = 3000;

async function h2load(url: string, parameters: readonly string[]): Promise<void> {
  const text = await runTool("h2load", ["-n", String(count), "-c", "8", ...parameters, url]);
  expect(text).toMatch(`${count} succeeded, 0 failed, 0 errored, 0 timeout`);
  expect(text).toMatch(`status codes: ${count} 2xx, 0 3xx, 0 4xx, 0 5xx`);
}

itWith("h2load", "h2load runs clean: h2c, many streams on a connection", async () => {
  const { port } = await startServed(false);
  await h2load(`http://127.0.0.1:${port}/`, ["-m", "20"]);
});

itWith("h2load", "h2load runs clean: h2 over TLS, also with request bodies", async () => {
  const { port, folder } = await startServed(true);
  const url = `https://127.0.0.1:${port}/`;
  await h2load(url, ["-m", "20"]);
  await h2load(url, ["-m", "20", "-d", `${folder}/site.pem`]);
});

itWith("h2load", "h2load runs clean: HTTP/1.1 over TLS", async () => {
  const { port } = await startServed(true);
  await h2load(`https://127.0.0.1:${port}/`, ["--h1"]);
});

itWith("wrk", "wrk runs clean", async () => {
  for (const isTls of [false, true]) {
    const { port } = await startServed(isTls);
    const url = `${isTls ? "https" : "http"}://127.0.0.1:${port}/`;
    // It knows no count of requests, and in a second a busy machine may end none.
    let text = "";
    for (const duration of ["1s", "8s", "30s"]) {
      text = await runTool("wrk", ["-t", "1", "-c", "16", "-d", duration, url]);
      if (!text.includes(" 0 requests in")) break;
    }
    expect(text).toMatch(/[1-9]\d* requests in/);
    // It prints these lines only where there is something to say.
    expect(text).not.toMatch(/Non-2xx|Socket errors/);
  }
});
