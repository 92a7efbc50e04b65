import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

// Becomes haproxy with one thread: a proxy of UPSTREAM on PORT, over TLS where CERT is a file with a `.both` next to it. Prints its port. It
// logs to stdout, and sends events at once (`http-no-delay`): without that, it delays them to join them.

const { PORT, UPSTREAM = "", CERT } = process.env;
const folder = mkdtempSync(join(tmpdir(), "gwc-haproxy-"));
const file = join(folder, "haproxy.cfg");
writeFileSync(
  file,
  `global
  nbthread 1
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  option forwardfor
  option http-no-delay
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend f
  bind 127.0.0.1:${PORT} backlog 4096${CERT === undefined ? "" : ` ssl crt ${CERT}.both`}
  default_backend b
backend b
  server s ${new URL(UPSTREAM).host} pool-max-conn 256
`,
);
const haproxy = execFileSync("which", ["haproxy"], { encoding: "utf8" }).trim();
process.stdout.write(`listening on 127.0.0.1:${PORT}\n`, () =>
  process.execve?.(haproxy, [haproxy, "-db", "-f", file]),
);
