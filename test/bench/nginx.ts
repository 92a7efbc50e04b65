import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeCertificate } from "../harness/certificate.ts";
import { type Case, type Cost, compare } from "./compare.ts";
import type { Pace } from "./duel.ts";

/** After so many requests V8 compiles nothing any more of what each request runs through. */
const COMPILED = 30_000;

/**
 * Measures the cost of a request in nginx and in a plain gateway, one kind of request after the other. A turn has
 * enough requests that opening connections, and their handshakes, are a small part of it.
 */
export async function measureNginx(
  folder: string,
  host: string,
  pace: Pace,
): Promise<readonly { readonly name: string; readonly costs: readonly Cost[] }[]> {
  const script = fileURLToPath(new URL("nginx-proxy.ts", import.meta.url));
  makeCertificate(folder, "nginx");
  const files = { cert: join(folder, "nginx.pem"), key: join(folder, "nginx.key") };
  const routes = [{ backends: [{ host }] }];
  const body = "x".repeat(2048);
  const kinds: readonly (readonly [string, string, number, Partial<Case>?])[] = [
    ["GET", head("GET /items/1?q=x"), 3000],
    ["POST 2 KB", head("POST /items", `Content-Length: ${body.length}\r\n`) + body, 3000],
    ["GET over TLS", head("GET /items/1?q=x"), 12_000, { tls: files }],
    ["GET 1 MB", head("GET /large"), 600],
    ["100 events", head("GET /events"), 600],
  ];
  const measured: { name: string; costs: readonly Cost[] }[] = [];
  for (const [name, request, requests, rest] of kinds) {
    const common = { requests: [request], ...rest };
    const cases: readonly Case[] = [
      { name: "nginx", routes: [], script, ...common },
      { name: "gateway", routes, ...common },
    ];
    const costs = await compare(cases, `http://${host}`, { ...pace, requests, warmUp: COMPILED });
    measured.push({ name, costs });
  }
  return measured;
}

function head(line: string, fields = ""): string {
  return `${line} HTTP/1.1\r\nHost: api.example.com\r\nAccept: */*\r\nUser-Agent: load\r\n${fields}\r\n`;
}
