import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

it("the explanation of a route names its providers, their groups and models", () => {
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
  const { stdout } = gwc(["explain", "route", "chat"], { cwd: folder });
  expect(stdout).toContain(
    "backend: ai (group 1: fast (gpt-5), not asked for 10 s after a failure; group 2: spare, not asked for 10 s after 3 failures or health below 0.5)\n",
  );
});
