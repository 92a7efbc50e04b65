import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { itWith, runTool } from "../harness/tool.ts";
import { startUpstream } from "../harness/upstream.ts";

/** A port with TLS of its listener and of `frontendPolicies.tls`. */
async function startTls(own: object, shared: object = {}, key: "rsa" | "ec" = "rsa") {
  const folder = temporaryFolder();
  makeCertificate(folder, "site", { key });
  const upstream = await startUpstream((_request, response) => response.end("ok"));
  const tls = { cert: "site.pem", key: "site.key", ...own };
  const routes = [{ backends: [{ host: upstream }] }];
  const file = Object.keys(shared).length === 0 ? {} : { frontendPolicies: { tls: shared } };
  return startGateway({ folder, file, listeners: [{ protocol: "HTTPS", tls, routes }] });
}

/** Protocols and ciphers that sslscan finds enabled. */
async function scan(port: number): Promise<{ versions: string[]; suites: string[] }> {
  const text = await runTool("sslscan", ["--no-colour", `127.0.0.1:${port}`]);
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);
  expect(text).toMatch(/Session renegotiation not supported/);
  return {
    versions: found(/^((?:SSL|TLS)v[\d.]+)\s+enabled/gm),
    suites: found(/^(?:Preferred|Accepted)\s+\S+\s+\d+ bits\s+(\S+)/gm),
  };
}

const tls13 = ["TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"];
const tls12 = (key: "RSA" | "ECDSA") =>
  ["AES256-GCM-SHA384", "AES128-GCM-SHA256", "CHACHA20-POLY1305"].map(
    (cipher) => `ECDHE-${key}-${cipher}`,
  );

itWith("sslscan", "sslscan sees the defaults when nothing is configured", async () => {
  const rsa = await startTls({});
  expect(await scan(rsa.port)).toEqual({
    versions: ["TLSv1.2", "TLSv1.3"],
    suites: [...tls13, ...tls12("RSA")],
  });
  const ecdsa = await startTls({}, {}, "ec");
  expect(await scan(ecdsa.port)).toEqual({
    versions: ["TLSv1.2", "TLSv1.3"],
    suites: [...tls13, ...tls12("ECDSA")],
  });
});

itWith("sslscan", "sslscan sees TLS 1.3 alone when it is the lowest version", async () => {
  const own = await startTls({ minTLSVersion: "TLS_V1_3" });
  expect(await scan(own.port)).toEqual({ versions: ["TLSv1.3"], suites: tls13 });
  const shared = await startTls({}, { minVersion: "TLS_V1_3" });
  expect(await scan(shared.port)).toEqual({ versions: ["TLSv1.3"], suites: tls13 });
});

itWith("sslscan", "sslscan sees TLS 1.2 with the two suites that are configured", async () => {
  const own = {
    maxTLSVersion: "TLS_V1_2",
    cipherSuites: [
      "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    ],
  };
  const { port } = await startTls(own);
  expect(await scan(port)).toEqual({
    versions: ["TLSv1.2"],
    suites: ["ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-RSA-AES128-GCM-SHA256"],
  });
});

itWith("sslscan", "sslscan sees one suite of each version, the listener's own", async () => {
  const cipherSuites = ["TLS13_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"];
  const { port } = await startTls(
    { cipherSuites },
    { cipherSuites: ["TLS13_CHACHA20_POLY1305_SHA256"], minVersion: "1.2" },
  );
  expect(await scan(port)).toEqual({
    versions: ["TLSv1.2", "TLSv1.3"],
    suites: ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES256-GCM-SHA384"],
  });
});

const isLong = process.env.GWC_LONG_TESTS !== undefined;

/** Fifteen seconds alone: in the long run only. */
if (isLong) {
  itWith("testssl", "testssl.sh finds nothing weak in the defaults", async () => {
    const { port, folder } = await startTls({});
    const report = join(folder, "report.json");
    const options = ["--quiet", "--warnings", "off", "-p", "-s", "--jsonfile", report];
    await runTool("testssl", [...options, `127.0.0.1:${port}`]);
    const findings: readonly { id: string; severity: string; finding: string }[] = JSON.parse(
      readFileSync(report, "utf8"),
    );
    const weak = findings.filter(
      ({ id, severity }) => !["OK", "INFO"].includes(severity) && id !== "engine_problem",
    );
    expect(weak).toEqual([]);
    const offered = findings.filter(({ finding }) => finding.startsWith("offered"));
    expect(offered.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["TLS1_2", "TLS1_3", "cipherlist_STRONG"]),
    );
  });
}
