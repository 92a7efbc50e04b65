#!/usr/bin/env bash
# What a newcomer does with the package: install it in an empty folder, write, check, build and serve a first gateway. The
# Node.js of this machine comes first on PATH, whatever its version.
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$PWD

folder=$(mktemp -d)
gateway=
finish() {
  if [ -n "$gateway" ]; then kill "$gateway" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap finish EXIT
fail() {
  echo "package: $1" >&2
  if [ -f "$folder/log" ]; then cat "$folder/log" >&2; fi
  exit 1
}

package=$(npm pack --silent --pack-destination "$folder" | tail -n 1)
bytes=$(wc -c <"$folder/$package")
[ "$bytes" -lt 3800000 ] || fail "$package has $bytes bytes"

mkdir "$folder/project"
cd "$folder/project"
npm install --loglevel warn --no-fund --no-audit "$folder/$package" >"$folder/log" 2>&1 || fail "npm install ended with $?"
grep -q EBADENGINE "$folder/log" && fail "npm warns about the version of Node.js"

# Ports that are free here, so that nothing else on this machine is in the way.
read -r port stats readiness admin < <(node -e '
  const { createServer } = require("node:net");
  const servers = [1, 2, 3, 4].map(() => createServer().listen(0));
  setTimeout(() => {
    console.log(servers.map((server) => server.address().port).join(" "));
    for (const server of servers) server.close();
  }, 100);')
export STATS_ADDR=127.0.0.1:$stats READINESS_ADDR=127.0.0.1:$readiness ADMIN_ADDR=127.0.0.1:$admin

npx gwc init
sed -i "s/port: 3000/port: $port/" gateway.yaml
npx gwc check
npx gwc build
npx gwc build --check

# Starts a command, asks the gateway for the tools' server, and ends the command by its id.
serve() {
  "$@" >"$folder/log" 2>&1 &
  gateway=$!
  for _ in $(seq 1 100); do
    if curl -sf "http://$READINESS_ADDR/healthz/ready" >/dev/null; then break; fi
    kill -0 "$gateway" 2>/dev/null || fail "$* ended"
    sleep 0.1
  done
  local response
  # A first `npx -y` on a slow machine may take longer than a gateway waits for a server to start.
  response=$(curl -sSf --retry 8 --retry-delay 1 "http://127.0.0.1:$port/mcp" \
    -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' \
    -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}' 2>&1) ||
    fail "$* gave no server: $response"
  [[ $response == *'"serverInfo"'* ]] || fail "$* gave no server: $response"
  kill "$gateway"
  wait "$gateway" || fail "$* ended with $?"
  gateway=
  if curl -s "http://127.0.0.1:$port/" >/dev/null; then fail "$* left its port open"; fi
}
serve node_modules/.bin/node out/gateway/gateway.mjs
serve node node_modules/gwc/compiler/gwc.mjs run

# A policy in TypeScript, with the types of the installed package.
npx gwc init --policy tenant
route='{ policies: { custom: [{ use: ./policies/tenant.ts }] }, backends: [{ host: "127.0.0.1:1" }] }'
echo "binds: [{ port: $port, listeners: [{ routes: [$route] }] }]" >policy.yaml
npx gwc build policy.yaml || fail "a gateway with a policy is not built"
node --input-type=module -e '
  import { definePolicy } from "gwc/policy";
  import { testPolicy } from "gwc/policy/testing";
  const policy = definePolicy({ request: (request) => request.refuse(403, "no") });
  const { refusal } = await testPolicy(policy);
  process.exit(refusal?.status === 403 ? 0 : 1);' || fail "gwc/policy/testing does not run a policy"

# The same bytes as from the repository: the manifest has the digest of the bundle.
cp -r "$repository/examples/authorization" authorization
npx gwc build authorization/gateway.yaml -o installed
(cd "$repository" && npm run --silent gwc -- build examples/authorization/gateway.yaml -o "$folder/built")
diff -r "$folder/built" installed || fail "examples/authorization is built differently"

echo "package: $package ($((bytes / 1000)) kB) installs, checks, builds, serves with Node.js $(node -v) on PATH; its bundle is the repository's"
