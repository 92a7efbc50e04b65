import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeCertificate } from "../harness/certificate.ts";
import { isInstalled } from "../harness/tool.ts";
import { type Case, type Cost, compare } from "./compare.ts";
import type { Pace } from "./duel.ts";

/** After so many requests V8 compiles nothing any more of what each request runs through. */
const COMPILED = 30_000;
/** The same for streams of 100 events, which take 200 ms each. */
const COMPILED_PACED = 1_500;

/** Maximum CPU of a kind of request, relative to nginx. */
export const nginxGoals: Readonly<Record<string, number>> = {
  GET: 1,
  "POST 2 KB": 1.05,
  "GET over TLS": 1.25,
  "GET 1 MB over TLS": 1.1,
  "100 events, 2 ms apart": 1.25,
};

/** A kind of request, and its cost in nginx, in haproxy if it is installed, and in a plain gateway. */
export interface PeerCosts {
  readonly name: string;
  readonly costs: readonly Cost[];
}

/** Name, request, requests of one turn, and what else the case needs. */
type Kind = readonly [string, string, number, Partial<Case>?];

/**
 * Measures the cost of a request in nginx and in a plain gateway, one kind of request after the other. A turn has
 * enough requests that opening connections, and their handshakes, are a small part of it. All log each request.
 */
export async function* measureNginx(
  folder: string,
  host: string,
  pace: Pace,
): AsyncGenerator<PeerCosts> {
  const tls = certificateFiles(folder);
  const body = "x".repeat(2048);
  const kinds: readonly Kind[] = [
    ["GET", GET, 3000],
    ["POST 2 KB", head("POST /items", `Content-Length: ${body.length}\r\n`) + body, 3000],
    ["GET over TLS", GET, 12_000, { tls }],
    ["GET 1 MB", head("GET /large"), 600],
    ["GET 1 MB over TLS", head("GET /large"), 300, { tls, warmUp: COMPILED_PACED }],
    ["100 events", head("GET /events"), 600],
    ["100 events, 2 ms apart", head("GET /paced"), 256, { warmUp: COMPILED_PACED }],
  ];
  for (const [name, request, requests, rest] of kinds) {
    const common = { requests: [request], ...rest };
    const cases = [
      ...peerCases(host, common),
      // A pipe of Node.js that parses nothing and logs nothing: the least that Node.js takes.
      { name: "pipe", routes: [], script: script("pipe"), ...common },
    ];
    const own = { ...pace, requests, warmUp: COMPILED };
    yield { name, costs: await compare(cases, `http://${host}`, own) };
  }
}

function peerCases(host: string, common: Pick<Case, "requests"> & Partial<Case>): readonly Case[] {
  const peers = ["nginx", "haproxy"].filter(isInstalled);
  return [
    ...peers.map((name) => ({ name, routes: [], script: script(name), ...common })),
    { name: "gateway", routes: [{ backends: [{ host }] }], ...common },
  ];
}

function script(name: string): string {
  return fileURLToPath(new URL(`${name}-proxy.ts`, import.meta.url));
}

/** haproxy reads a certificate and its key from one file. */
function certificateFiles(folder: string): { readonly cert: string; readonly key: string } {
  makeCertificate(folder, "nginx");
  const files = { cert: join(folder, "nginx.pem"), key: join(folder, "nginx.key") };
  const both = readFileSync(files.cert, "utf8") + readFileSync(files.key, "utf8");
  writeFileSync(join(folder, "nginx.pem.both"), both);
  return files;
}

function head(line: string, fields = ""): string {
  return `${line} HTTP/1.1\r\nHost: api.example.com\r\nAccept: */*\r\nUser-Agent: load\r\n${fields}\r\n`;
}

const GET = head("GET /items/1?q=x");
