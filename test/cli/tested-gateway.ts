/** A gateway that has something of everything that tests are written for. */
export const config = `binds:
  - port: 3000
    listeners:
      - hostname: tools.example.com
        routes:
          - name: tools
            matches: [{path: {pathPrefix: /mcp}}]
            policies:
              jwtAuth: {issuer: "https://id.example.com", audiences: [tools], jwks: {url: "https://id.example.com/keys"}}
              mcpAuthorization:
                rules:
                  - '"admin" in jwt.roles'
                  - mcp.tool.name == "read"
                  - deny: mcp.tool.name == "drop"
            backends:
              - mcp:
                  targets:
                    - {name: files, mcp: {host: "http://127.0.0.1:9/mcp"}}
                    - {name: tables, stdio: {cmd: there-is-no-such-program}}
      - routes:
          - name: shop
            matches: [{path: {pathPrefix: /shop}}]
            policies:
              basicAuth: {htpasswd: {file: nowhere.htpasswd}, mode: optional}
              apiKey: {keys: [{keyHash: "sha256:${"0".repeat(64)}", metadata: {team: blue}}], mode: optional, location: {header: {name: x-key}}}
              authorization:
                rules:
                  - 'request.method == "GET" || apiKey.team == "blue"'
                  - deny: cidr("10.0.0.0/8").containsIP(source.address)
              transformations: {request: {set: {x-user: basicAuth.username, x-path: request.path}}}
              urlRewrite: {path: {prefix: /v2}}
            backends: [{host: "shop.internal:8080", policies: {backendAuth: {key: "\${SHOP_KEY}"}}}]
          - name: limited
            matches: [{path: {exact: /limited}}]
            policies: {localRateLimit: [{maxTokens: 2, tokensPerFill: 1, fillInterval: 60s}]}
            backends: [{host: "127.0.0.1:9"}]
          - name: matched
            matches: [{path: {exact: /repeated}, headers: [{name: x-match, value: {exact: a}}]}]
            policies: {directResponse: {status: 204}}
          - name: repeated
            matches: [{path: {exact: /repeated}}]
            policies: {authorization: {rules: [{deny: 'default(request.headers.d, "") == "1"'}]}}
            backends: [{host: "127.0.0.1:9"}]
          - name: moved
            matches: [{path: {exact: /old}}]
            policies: {requestRedirect: {path: {full: /new}, status: 301}}
          - name: office
            matches: [{path: {pathPrefix: /office}}]
            policies:
              oidc: {issuer: "https://id.example.com", clientId: office, clientSecret: "\${OIDC_SECRET}", redirectURI: "https://a/callback"}
              authorization: {rules: ['jwt.email.endsWith("@example.com")']}
              transformations: {request: {set: {x-user: jwt.email}}}
            backends: [{host: "127.0.0.1:9"}]
          - name: chat
            matches: [{path: {pathPrefix: /llm}}]
            policies: {apiKey: {keys: [{keyHash: "sha256:${"1".repeat(64)}", metadata: {team: red}, allowedModels: [small]}]}}
            backends: [{ai: {name: models, provider: {openAI: {}}, policies: {backendAuth: {key: "\${OPENAI_KEY}"}}}}]
`;

/** Offers of its MCP servers. */
export const offers = "servers: {files: {tools: [read, drop]}, tables: {tools: [read, query]}}\n";

/** A test of a line, and what must come out. */
export const line = (name: string, what: string, expected: string) =>
  `  - {name: ${JSON.stringify(name)}, ${what}, expect: {${expected}}}\n`;

/** One test. */
export const one = (what: string, expected: string) =>
  `${offers}tests:\n${line("one", what, expected)}`;
