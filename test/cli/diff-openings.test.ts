import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { diffOf, firstLine } from "./diff-of.ts";

const config = `config: {statsAddr: "127.0.0.1:15020"}
binds:
  - port: 3000
    listeners:
      - routes:
          - name: tools
            matches: [{path: {pathPrefix: /mcp}}]
            policies:
              jwtAuth: {issuer: "https://id.example.com", audiences: [tools], jwks: {url: "https://id.example.com/keys"}}
              mcpAuthorization: {rules: ['mcp.tool.name == "get"']}
            backends:
              - mcp: {targets: [{name: a, mcp: {host: "https://tools.internal/mcp"}}]}
          - name: chat
            matches: [{path: {pathPrefix: /v1}}]
            policies:
              apiKey: {keys: [{key: "\${CHAT_KEY}", metadata: {user: ann}}]}
              authorization: {rules: ['apiKey.user == "ann"']}
              ai: {promptGuard: {request: [{regex: {action: reject, rules: [{builtin: creditCard}]}}]}}
            backends:
              - ai: {name: chat, provider: {openAI: {model: gpt-4o}}, policies: {backendAuth: {key: "\${OPENAI_KEY}"}}}
          - name: web
            matches: [{path: {pathPrefix: /web}}]
            policies:
              extAuthz: {host: "authz.internal:9000", failureMode: deny}
              requestHeaderModifier: {remove: [x-user]}
              transformations: {request: {set: {x-sub: '"nobody"'}}}
            backends: [{host: "web.internal:443", policies: {backendTLS: {hostname: web.internal}}}]
          - name: login
            matches: [{path: {pathPrefix: /login}}]
            policies: {basicAuth: {htpasswd: "ann:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M="}}
            backends: [{host: "web.internal:80"}]
  - port: 8443
    listeners:
      - {name: tls, protocol: HTTPS, tls: {cert: /c.pem, key: /k.pem, root: /ca.pem}, routes: [{name: s, backends: [{host: "10.0.0.1:80"}]}]}
`;

/** An edit of a few words that lets somebody in, and the words of the first line that report it. */
const openings: readonly (readonly [what: string, from: string, to: string, says: string])[] = [
  [
    "keys of somebody else",
    "example.com/keys",
    "example.org/keys",
    "are signed by keys of https://id.example.org/keys",
  ],
  ["tokens for anybody", ", audiences: [tools]", "", "for any audience"],
  [
    "a key's holder is more",
    "{user: ann}",
    "{user: ann, admin: true}",
    "holder of key ${CHAT_KEY}: admin: true added",
  ],
  [
    "another key",
    'keys: [{key: "${CHAT_KEY}"',
    'keys: [{key: "${K}", metadata: {user: ann}}, {key: "${CHAT_KEY}"',
    "key ${K} added",
  ],
  [
    "a guard that fails open",
    "failureMode: deny",
    "failureMode: allow",
    "fails, requests are allowed",
  ],
  [
    "a guard that is another server",
    "authz.internal",
    "authz.example.org",
    "server http://authz.example.org:9000 instead of",
  ],
  [
    "a guard of some requests alone",
    'host: "authz.internal:9000", failureMode: deny',
    `conditional: [{condition: 'request.method == "POST"', host: "authz.internal:9000"}]`,
    "instead of every request",
  ],
  [
    "a header that clients say themselves",
    "remove: [x-user]",
    "remove: [x-other]",
    "a client's own x-user reaches the server",
  ],
  [
    "a transformation that is gone",
    `              transformations: {request: {set: {x-sub: '"nobody"'}}}\n`,
    "",
    "a client's own x-sub reaches the server",
  ],
  [
    "one more server of tools",
    "targets: [{",
    "targets: [{name: shell, stdio: {cmd: bash}}, {",
    "MCP server shell added",
  ],
  [
    "any model",
    "openAI: {model: gpt-4o}",
    "openAI: {}",
    "any model that clients request, not only gpt-4o",
  ],
  [
    "clients' credentials for a provider",
    '{key: "${OPENAI_KEY}"}',
    "{passthrough: {}}",
    "client credentials are forwarded to the server",
  ],
  [
    "responses of other callers",
    "ai: {promptGuard",
    "ai: {cache: {ttl: 1m, key: apiKey.team}, promptGuard",
    "cached responses are shared by callers",
  ],
  [
    "no guard of prompts",
    "              ai: {promptGuard: {request: [{regex: {action: reject, rules: [{builtin: creditCard}]}}]}}\n",
    "",
    "requests: creditCard: rejected -> passed",
  ],
  [
    "a certificate that nobody checks",
    "{hostname: web.internal}",
    "{insecure: true}",
    "server certificate verification: full -> none",
  ],
  [
    "metrics for everybody",
    "127.0.0.1:15020",
    "0.0.0.0:15020",
    "listens on 127.0.0.1:15020 -> 0.0.0.0:15020",
  ],
  [
    "clients without certificates",
    ", root: /ca.pem",
    "",
    "client certificate verification removed",
  ],
  [
    "no TLS",
    "protocol: HTTPS, tls: {cert: /c.pem, key: /k.pem, root: /ca.pem}, ",
    "",
    "TLS removed",
  ],
  [
    "one more user",
    "ann:{SHA}",
    "eve:{SHA}aUqP5cyxm6YcTAhz05Hph5gvu9M=\\nann:{SHA}",
    "user eve added",
  ],
  ["another password", "ann:{SHA}q", "ann:{SHA}x", "password of ann changed"],
];

describe("what lets somebody in is what the first line says", () => {
  it.each(openings)("%s", (_, from, to, says) => {
    const changed = config.replace(from, to);
    expect(changed).not.toBe(config);
    const line = firstLine(diffOf(config, changed));
    expect(line).toMatch(/^\d+ differences?: \d+ OPENS?\b/);
    expect(line).toContain(says);
  });

  it.each(openings)("%s, and back: that closes", (_, from, to) => {
    expect(diffOf(config.replace(from, to), config)).toMatch(/^(CLOSES|OPENS) /m);
  });
});

describe("an issuer's keys that are written out", () => {
  const key = (kid: string) => ({
    ...generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }),
    kid,
  });
  const [first, second, third] = [key("first"), key("second"), key("third")];
  const withKeys = (...keys: readonly object[]) =>
    config.replace(
      `jwks: {url: "https://id.example.com/keys"}`,
      `jwks: {inline: '${JSON.stringify({ keys })}'}`,
    );
  const before = withKeys(first, second);

  it("that are swapped open, and are reported by their names", () => {
    expect(firstLine(diffOf(before, withKeys(third)))).toContain(
      '1 OPENS: route tools (:3000 /mcp), jwtAuth: keys of https://id.example.com: 1 added ("third"); ' +
        'the configuration does not show who can sign with it; 2 removed ("first", "second")',
    );
    expect(firstLine(diffOf(before, withKeys(key("first"), second)))).toMatch(
      /1 OPENS: .* 1 added \("first"\); .*; 1 removed \("first"\)/,
    );
  });

  it("that are fewer close, and in another order are the same", () => {
    expect(firstLine(diffOf(before, withKeys(second)))).toMatch(
      /1 CLOSES: .* 1 removed \("first"\)/,
    );
    expect(firstLine(diffOf(before, withKeys(second, first)))).toMatch(/^no request is treated/);
    expect(firstLine(diffOf(before, withKeys({ ...first, use: "sig" }, second)))).toMatch(
      /1 CHANGES: .* 1 with other metadata \("first"\)/,
    );
  });
});

it("names that would forge lines, links or colours are printed as they are written", () => {
  const forged = '"tools\\e[2J\\nno request is treated differently @everyone [x](http://x)"';
  const after = config.replace("name: tools\n", `name: ${forged}\n`).replace('"get"', '"got"');
  const text = diffOf(config, after);
  expect(text).not.toContain("\u001b");
  expect(text.match(/^no request/gm)).toBeNull();
  expect(firstLine(text)).toContain("route tools\\u{1b}[2J\\u{a}no request");
  const lines = diffOf(config, after, "markdown").split("\n");
  expect(lines.filter((line) => line.includes("@everyone")).length).toBeGreaterThan(1);
  for (const line of lines) expect(line.replace(/`[^`]*`/g, "")).not.toContain("@everyone");
});

it("a name whose TLS is passed on from now on is served unread, not refused", () => {
  const served = (name: string) =>
    `{hostname: ${name}.test, protocol: HTTPS, tls: {cert: /c.pem, key: /k.pem}, routes: [{name: ${name}, policies: {csrf: {}}, backends: [{host: "10.0.0.1:80"}]}]}`;
  const passed = (name: string) =>
    `{hostname: ${name}.test, protocol: TLS, tcpRoutes: [{backends: [{host: "10.0.0.1:443"}]}]}`;
  const port = (...listeners: readonly string[]) =>
    `binds: [{port: 3443, listeners: [${listeners.join(", ")}]}]`;
  const said = (from: string, to: string) =>
    diffOf(from, to)
      .split("\n")
      .filter((line) => /^(OPENS|CLOSES) /.test(line))
      .map((line) => line.replace(/ +/g, " "));
  const [both, one] = [port(served("a"), served("b")), port(passed("a"), served("b"))];
  expect(said(both, one)).toEqual([
    "OPENS route a (a.test:3443 /) served by http://10.0.0.1:80 -> connections forwarded unread",
    "OPENS port 3443 (connections) no names forwarded -> forwards connections",
  ]);
  expect(said(one, both)).toEqual([
    "CLOSES route a (a.test:3443 /) connections forwarded unread -> served by http://10.0.0.1:80",
    "CLOSES port 3443 (connections) forwards connections -> no names forwarded",
  ]);
  expect(said(port(served("a")), port(passed("a")))[0]).toBe(
    "OPENS port 3443 served -> connections forwarded unread",
  );
});

describe("TLS of one server name of a port", () => {
  const listener = (name: string, protocol: string, tls: string) => {
    const routes =
      protocol === "HTTPS"
        ? "routes: [{backends: [{host: 'a.internal:80'}]}]"
        : "tcpRoutes: [{backends: [{host: 'a.internal:80'}]}]";
    return `{hostname: ${name}.test, protocol: ${protocol}, tls: {cert: /c.pem, key: /k.pem${tls}}, ${routes}}`;
  };
  const port = (protocol: string, own: string) =>
    `binds: [{port: 8443, listeners: [${listener("a", protocol, "")}, ${listener("b", protocol, own)}]}]`;

  it.each(["HTTPS", "TLS"])("%s: certificates of its clients open when they go", (protocol) => {
    const [strict, open] = [port(protocol, ", root: /ca.pem"), port(protocol, "")];
    const says = "client certificate verification";
    expect(firstLine(diffOf(strict, open))).toMatch(/^2 differences: 1 OPENS/);
    expect(diffOf(strict, open)).toContain(`${says} removed`);
    expect(diffOf(open, strict)).toMatch(/^CLOSES /m);
    expect(diffOf(open, strict)).toContain(`${says} added`);
    expect(diffOf(strict, strict)).toBe("no request is treated differently\n");
  });

  it("HTTPS: an older version opens", () => {
    const [newer, older] = [", minTLSVersion: '1.3'", ""];
    expect(firstLine(diffOf(port("HTTPS", newer), port("HTTPS", older)))).toContain(
      "minimum TLS version: TLSv1.3 -> TLSv1.2",
    );
  });
});
