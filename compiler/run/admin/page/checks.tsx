import type { CustomPolicyData, GuardData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { amount, count } from "./format.ts";
import { Card, Code, Empty, PageHead, Pill, Text } from "./parts.tsx";

const TONES: Readonly<Record<string, "good" | "warn" | "bad">> = {
  pass: "good",
  ok: "good",
  mask: "warn",
  refused: "warn",
  reject: "bad",
  failed: "bad",
  timeout: "bad",
};

const GUARDS: readonly Column<GuardData>[] = [
  { title: "Guard", isHead: true, cell: ({ guard }) => <Code>{guard}</Code> },
  { title: "Checks", cell: ({ phase }) => `${phase}s` },
  { title: "Routes", cell: ({ routes }) => <Text>{routes.join(", ")}</Text> },
  {
    title: "Decided",
    cell: ({ actions }) => (
      <Counts counts={actions.map(({ action, count: value }) => [action, value])} />
    ),
  },
];

type Hook = CustomPolicyData["hooks"][number] & Pick<CustomPolicyData, "policy" | "routes">;

const HOOKS: readonly Column<Hook>[] = [
  { title: "Policy", isHead: true, cell: ({ policy }) => <Text>{policy}</Text> },
  { title: "Hook", cell: ({ hook }) => <Code>{hook}</Code> },
  { title: "Routes", cell: ({ routes }) => <Text>{routes.join(", ")}</Text> },
  {
    title: "Calls",
    cell: ({ results }) => (
      <Counts counts={results.map(({ result, count: value }) => [result, value])} />
    ),
  },
];

/** Guards of prompts and completions, and custom policies, with what they did. */
export function ChecksPage({ gateway: { guards, custom } }: PageProps) {
  return (
    <>
      <PageHead
        title="Guards and policies"
        about="What guards and your own policies decided since the process started."
      />
      <Card class="flush" title="Guards" note={amount(guards.length, "guard")}>
        {guards.length === 0 ? (
          <Empty icon="checks" title="No guards">
            Guards check prompts, completions and tool results: see{" "}
            <code>gwc explain guide guards</code>.
          </Empty>
        ) : (
          <DataTable
            label="Guards"
            columns={GUARDS}
            rows={guards}
            keyOf={({ phase, guard }) => `${phase} ${guard}`}
          />
        )}
      </Card>
      <Card
        class="flush"
        title="Custom policies"
        note={amount(custom.length, "policy", "policies")}
      >
        {custom.length === 0 ? (
          <Empty icon="code" title="No custom policies">
            Policies in TypeScript are compiled into the gateway: try <code>gwc init --policy</code>
            .
          </Empty>
        ) : (
          <DataTable
            label="Custom policies"
            columns={HOOKS}
            rows={custom.flatMap(({ policy, routes, hooks }) =>
              hooks.map((hook) => ({ ...hook, policy, routes })),
            )}
            keyOf={({ policy, hook }) => `${policy} ${hook}`}
          />
        )}
      </Card>
    </>
  );
}

function Counts({ counts }: { counts: readonly (readonly [string, number])[] }) {
  if (counts.length === 0) return <span class="soft">not called yet</span>;
  return (
    <span class="chips">
      {counts.map(([name, value]) => (
        <Pill key={name} tone={TONES[name] ?? "plain"}>
          {name} {count(value)}
        </Pill>
      ))}
    </span>
  );
}
