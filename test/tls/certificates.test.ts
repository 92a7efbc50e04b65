import { execFileSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";
import { handwrittenGateway } from "../http/handwritten-gateway.ts";

it("each name gets its certificate, and one without a listener the first", async () => {
  const { port } = await startSecure();
  expect(await subject(port, "a.example.com")).toBe("a");
  expect(await subject(port, "A.EXAMPLE.com")).toBe("a");
  expect(await subject(port, "b.example.com")).toBe("wild");
  expect(await subject(port, "c.b.example.com")).toBe("wild");
  expect(await subject(port, "elsewhere.test")).toBe("other");
  expect(await subject(port, undefined)).toBe("other");
  expect(await response(port)).toBe("secure");
});

it("plain HTTP on a TLS port is aborted, and the port continues to serve", async () => {
  const { port } = await startSecure();
  const client = new RawClient(port);
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await client.closes();
  expect(client.received).toBe("");
  expect(await response(port)).toBe("secure");
});

it("a changed certificate is used for new connections and the old ones stay", async () => {
  const { port, folder } = await startSecure();
  const kept = connect({ port, host: "127.0.0.1", servername: "a.example.com", ...anyone });
  onTestFinished(() => {
    kept.destroy();
  });
  let received = "";
  kept.on("data", (chunk) => {
    received += chunk;
  });
  makeCertificate(folder, "renewed", "a.example.com");
  copyFileSync(join(folder, "renewed.pem"), join(folder, "a.pem"));
  copyFileSync(join(folder, "renewed.key"), join(folder, "a.key"));
  await untilSubject(port, "a.example.com", "renewed");
  kept.write("GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n");
  await eventually(() => /secure$/.exec(received), "a response on the old connection");
});

it("a changed certificate that can't be used keeps the old one and is logged", async () => {
  const { gateway, port, folder } = await startSecure();
  writeFileSync(join(folder, "a.pem"), "not a certificate");
  await gateway.seen(/"level":"warn".*a\.pem.*can't be used.*the old one stays in use/);
  expect(await subject(port, "a.example.com")).toBe("a");
  // And the next good one is taken, for connections that name no host too.
  makeCertificate(folder, "a", "a.example.com");
  makeCertificate(folder, "second", "other");
  copyFileSync(join(folder, "second.pem"), join(folder, "other.pem"));
  copyFileSync(join(folder, "second.key"), join(folder, "other.key"));
  await untilSubject(port, undefined, "second");
});

it("a port changes between plain HTTP and TLS", async () => {
  const { gateway, port } = await startSecure("one");
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("one");
  gateway.write("secure\n");
  await gateway.seen(/replaced/);
  expect(await response(port)).toBe("secure");
});

const anyone = { rejectUnauthorized: false };

async function startSecure(
  start = "secure",
): Promise<{ gateway: Gateway; port: number; folder: string }> {
  const folder = temporaryFolder();
  makeCertificate(folder, "other", "other");
  makeCertificate(folder, "a", "a.example.com");
  makeCertificate(folder, "wild", "*.example.com");
  const port = await freePort();
  const gateway = handwrittenGateway("reload.ts", {
    FIRST_PORT: String(port),
    SECOND_PORT: "1",
    GWC_CONFIG_DIR: folder,
    START: start,
  });
  await eventually(() => /listening on/.exec(gateway.output), "the port");
  return { gateway, port, folder };
}

/** A self-signed certificate whose organisation is its file's name. */
function makeCertificate(folder: string, name: string, hostname: string): void {
  const files = ["-keyout", join(folder, `${name}.key`), "-out", join(folder, `${name}.pem`)];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const subject = ["-subj", `/O=${name}/CN=${hostname}`, "-days", "2", "-nodes"];
  execFileSync(program("openssl"), ["req", "-x509", ...curve, ...subject, ...files], {
    stdio: "ignore",
  });
}

/** The organisation in the certificate that a name gets. */
function subject(port: number, servername: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const name = servername === undefined ? {} : { servername };
    const socket = connect({ port, host: "127.0.0.1", ...name, ...anyone }, () => {
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      resolve(String(subject.O));
    });
    socket.on("error", reject);
  });
}

async function untilSubject(port: number, servername: string | undefined, wanted: string) {
  let seen = "";
  const look = () => (seen === wanted ? true : null);
  const timer = setInterval(async () => {
    seen = await subject(port, servername);
  }, 100);
  try {
    await eventually(look, `the certificate "${wanted}"`);
  } finally {
    clearInterval(timer);
  }
}

function response(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const ask = request({ port, host: "127.0.0.1", agent: false, ...anyone }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    });
    ask.on("error", reject);
    ask.end();
  });
}
