import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

it("the explanation of a route names its providers, their groups and models", async () => {
  const { folder } = new Workspace({
    "gateway.yaml": `
binds:
- port: 8080
  listeners:
  - routes:
    - name: chat
      backends:
      - ai:
          groups:
          - providers:
            - { name: fast, provider: { openAI: { model: gpt-5 } } }
          - providers:
            - name: spare
              provider: { anthropic: {} }
              policies: { health: { eviction: { consecutiveFailures: 3, healthThreshold: 0.5 } } }
`,
  });
  const { stdout } = await gwc(["explain", "route", "chat"], { cwd: folder });
  expect(stdout).toContain(
    "backend: ai (group 1: fast (gpt-5), ejected for 10 s after a failure; group 2: spare, ejected for 10 s after 3 failures or health below 0.5)\n",
  );
});

it("the explanation of a front door resolves its virtual models", async () => {
  const { folder } = new Workspace({
    "gateway.yaml": `
llm:
  models:
  - { name: gpt-5, provider: openAI }
  - { name: "claude-*", provider: anthropic }
  virtualModels:
  - name: best
    routing: { failover: { targets: [{ model: claude-opus-4-5, priority: 2 }, { model: gpt-5, priority: 1 }] } }
  - name: mixed
    routing: { weighted: { targets: [{ model: gpt-5, weight: 3 }, { model: claude-haiku-4-5 }] } }
  - name: smart
    routing: { conditional: { targets: [{ when: llmRequest.stream, model: gpt-5 }, { model: claude-haiku-4-5 }] } }
`,
  });
  const { stdout } = await gwc(["explain", "route", "llm"], { cwd: folder });
  expect(stdout).toContain(
    "best is gpt-5, else claude-opus-4-5; mixed is 3/4 gpt-5, 1/4 claude-haiku-4-5; smart is gpt-5 where llmRequest.stream, else claude-haiku-4-5)",
  );
});

const guarded = {
  "gateway.yaml": `
binds:
- port: 8080
  listeners:
  - routes:
    - name: chat
      policies:
        ai:
          promptGuard:
            request:
            - regex: { rules: [{ builtin: ssn }] }
              scope: [messages]
            - webhook: { target: { host: 127.0.0.1:9000 } }
            - regex: { action: reject, rules: [{ pattern: "secret[0-9]" }] }
              response: { statusCode: 451, message: Not here. }
            response: [{ webhook: { target: { host: 127.0.0.1:9000 } } }]
      backends:
      - ai: { provider: { openAI: {} } }
`,
};

it("the explanation of a route lists what is scanned where", async () => {
  const { folder } = new Workspace(guarded);
  const { stdout } = await gwc(["explain", "route", "chat"], { cwd: folder });
  expect(stdout).toContain(
    "guards on requests: 1.regex (masks ssn; messages), 2.webhook (calls http://127.0.0.1:9000; all parts), 3.regex (rejects secret[0-9]; all parts)\n" +
      "guards on responses: 1.webhook (calls http://127.0.0.1:9000; all parts)\n" +
      "guards on streams: the same guards, with 1024 characters sent to servers at a time\n" +
      "guards on patterns: matched on normalized text (zero-width characters removed, look-alikes replaced), with the parts of one role joined\n",
  );
});

it("a rejected text fails the command", async () => {
  const { folder } = new Workspace(guarded);
  const tried = await gwc(["eval", "--guard", "chat", "My 123-45-6789."], { cwd: folder });
  expect(tried.stdout).toBe(
    "1.regex    mask (1 match)\n2.webhook  not called\n3.regex    pass\ntext: My <SSN>.\n",
  );
  expect(tried.code).toBe(0);
  const rejected = await gwc(["eval", "--guard", "chat", "--format", "json", "A secret7."], {
    cwd: folder,
  });
  expect(JSON.parse(rejected.stdout)).toMatchObject({
    guards: [{ action: "pass" }, { action: "not called" }, { guard: "3.regex", action: "reject" }],
    rejection: { status: 451, message: "Not here." },
  });
  expect(rejected.code).toBe(1);
  const unknown = await gwc(["eval", "--guard", "chta", "x"], { cwd: folder });
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("routes with guards: chat"),
  });
});
