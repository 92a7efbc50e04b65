/**
 * The tiers of tests, as glob patterns below test/: `npm run test:quick` runs QUICK, `npm test` all but FULL, and
 * `npm run test:full` everything.
 */

/** Tests without processes: the compiler, CEL, diagnostics and the laws of the code. At most 60 s on two processors. */
export const QUICK: readonly string[] = [
  "laws*.test.ts",
  "compiler/*.test.ts",
  "compiler/{cel,diagnostics,mistakes}/**/*.test.ts",
  "kubernetes/merge/**/*.test.ts",
];

/**
 * Tests that are long, need programs of the machine, or repeat a shorter test with other inputs. Excluded from
 * `npm test`, which takes about 5 minutes on two processors.
 */
export const FULL: readonly string[] = [
  // Official suites and real counterparts.
  "conformance/!(cel|reference-manifests).test.ts",
  "attacks/**/*.test.ts",
  "{mcp,llm}/python-*.test.ts",
  "mcp/{client-matrix,key-rotation,view-attacks}.test.ts",
  "policies/back-channel-logout.test.ts",
  "mcp/{fastmcp,item-shape-python}.test.ts",
  "picture/picture.test.ts",
  "editor/neovim.test.ts",
  "mcp/real-servers.test.ts",
  "package/**/*.test.ts",
  "cli/{admin,admin-accessibility,admin-attacks,admin-teams,gateway-action,playground,playground-questions,lock,rendered-access,run-memory,verify}.test.ts",
  "editor/vscode.test.ts",
  "policies/{keycloak,cors-browser,oidc-browser,connection-browser,connection-replicas,jwt-remote-keys}.test.ts",
  // A real API server.
  "kubernetes/apiserver.test.ts",
  "kubernetes/controller/**/*.test.ts",
  // Every field, pair or split, and generated inputs.
  "compiler/{explained-fields,expression-variables,generated-types,type-check,same-bytes}.test.ts",
  "compiler/cel/{differential,scalar-offsets}.test.ts",
  "compiler/fields/**/*.test.ts",
  "cli/{bounded-questions,diff-access,import/nothing-vanishes-from-parts}.test.ts",
  "inspect/{table-pairs,built-gateways,whole-gateways,tried-rules,rule-model}.test.ts",
  "http/routing/decision.test.ts",
  "http/{long-requests,long-responses,http2-attacks}.test.ts",
  "kubernetes/{blast-radius,compiler-bugs,bounds,shuffle,api-defaults,broken-callouts,mesh}.test.ts",
  "llm/{every-pair,guard-disguises,guard-table,guard-like-events,hostile-patterns,valid-requests}.test.ts",
  "llm/{stream-splits,guard-streams,coding-agents,guide-clients}.test.ts",
  "llm/{hosted-tools,tool-pairs,subscriptions}.test.ts",
  "mcp/{hostile-openapi,route-limits,era-of-absent-servers}.test.ts",
  "policies/{ext-proc-bodies,hostile-callouts,many-rules}.test.ts",
  // Several threads and replicas, whose starts and ends take seconds.
  "{http,mcp}/threads*.test.ts",
  "{mcp/replicas,kubernetes/agent-threads,store/stored-keys,store/stored-limits,store/stores}.test.ts",
  "{backends/server-health,telemetry/dead-collectors,tls/rotation}.test.ts",
  // Long for other reasons: many processes, or waits for times of the configuration.
  "cli/{usage,literal-secrets,first-minutes}.test.ts",
  "{mcp/tool-lock,mcp/stdio,mcp/retry,llm/groups,llm/retry,llm/azure-openai}.test.ts",
  "http/{upgrade,connection-limits,failure,malformed}.test.ts",
  "policies/{a2a,local-rate-limit}.test.ts",
  "telemetry/tracing-{messages,mcp,conventions}.test.ts",
  "{tcp/tcp-routes,backends/aws-credentials,backends/gcp-credentials}.test.ts",
  "kubernetes/{deployment,tracing,mistakes,namespace-bounds,large-secrets,unopened-ports}.test.ts",
  "mcp/{reload-lists,drain}.test.ts",
  "tls/{failed-handshakes,names-of-a-port,shared-port}.test.ts",
  "examples/plain-http.test.ts",
  // A subject whose main behaviour a shorter file of `npm test` has.
  "backends/{backend-tls,dynamic,tunnels}.test.ts",
  "cli/{admin-login,can-tunnels,diff-openings,review,test-command,upgrade,import/nothing-vanishes}.test.ts",
  "compiler/diagnostics/every-mistake*.test.ts",
  "editor/{access,hostile-clients,memory,navigation,random-edits}.test.ts",
  "kubernetes/{callouts,gateway-references,partial-targets,tolerated-expressions,user-connections}.test.ts",
  "llm/{bedrock,budgets,front-door,gemini,google-clients,guard-servers}.test.ts",
  "llm/{response-cache,semantic-cache,shared-cache,stream-faults,text-fields,upstream-apis,web-search}.test.ts",
  "mcp/{bridge-to-sessions,merged-tasks,without-sessions}.test.ts",
  "policies/custom-{files,identity,isolation,memory,mistakes,order,texts}.test.ts",
  "policies/{authorization-server,basic-auth,retry,user-connections}.test.ts",
  "store/{leases,usage}.test.ts",
  "telemetry/{message-capture,otlp-access-log,tracing}.test.ts",
  "tls/{acme,frontend-tls,spiffe}.test.ts",
];

/** The patterns of a mode of vitest. Any other mode than `quick` and `standard` runs everything. */
export function tierOf(mode: string): {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
} {
  const below = (patterns: readonly string[]) => patterns.map((pattern) => `test/${pattern}`);
  if (mode === "quick") return { include: below(QUICK), exclude: below(FULL) };
  if (mode === "standard") return { include: ["test/**/*.test.ts"], exclude: below(FULL) };
  return { include: ["test/**/*.test.ts"], exclude: [] };
}
