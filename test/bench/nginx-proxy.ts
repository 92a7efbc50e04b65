import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

// Becomes nginx with one worker: a proxy of UPSTREAM on PORT, over TLS where CERT and KEY are files. It responds to /static
// itself when it is the upstream of others. Prints its port.

const { PORT, UPSTREAM = "", CERT, KEY } = process.env;
const folder = mkdtempSync(join(tmpdir(), "gwc-nginx-"));
const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
  .map((name) => `${name}_temp_path ${folder}/${name};`)
  .join("\n");
const tls =
  CERT === undefined
    ? ""
    : `ssl_certificate ${CERT}; ssl_certificate_key ${KEY}; ssl_session_cache shared:s:1m;`;
writeFileSync(
  join(folder, "nginx.conf"),
  `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events { worker_connections 4096; }
http {
${paths}
access_log ${folder}/access.log combined buffer=64k;
keepalive_requests 100000000;
client_body_buffer_size 128k;
upstream u { server ${new URL(UPSTREAM).host}; keepalive 256; keepalive_requests 100000000; }
server { listen 127.0.0.1:${PORT}${CERT === undefined ? "" : " ssl"} backlog=4096;
${tls}
location / {
proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection "";
proxy_set_header X-Forwarded-For $remote_addr;
}
location = /static { default_type application/json; return 200 ${"a".repeat(128)}; }
location ~ ^/(events|paced)$ { proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
} }
`,
);
const nginx = execFileSync("which", ["nginx"], { encoding: "utf8" }).trim();
process.stdout.write(`listening on 127.0.0.1:${PORT}\n`, () =>
  process.execve?.(nginx, [nginx, "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")]),
);
