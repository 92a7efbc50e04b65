import type { PageProps } from "./app.tsx";
import { amount, count } from "./format.ts";
import { Card, Code, Empty, PageHead, Pill, Table, Text } from "./parts.tsx";

const TONES: Readonly<Record<string, "good" | "warn" | "bad">> = {
  pass: "good",
  ok: "good",
  mask: "warn",
  refused: "warn",
  reject: "bad",
  failed: "bad",
  timeout: "bad",
};

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
          <Table label="Guards">
            <thead>
              <tr>
                <th scope="col">Guard</th>
                <th scope="col">Checks</th>
                <th scope="col">Routes</th>
                <th scope="col">Decided</th>
              </tr>
            </thead>
            <tbody>
              {guards.map(({ guard, phase, routes, actions }) => (
                <tr key={`${phase} ${guard}`}>
                  <th scope="row">
                    <Code>{guard}</Code>
                  </th>
                  <td>{phase}s</td>
                  <td>
                    <Text>{routes.join(", ")}</Text>
                  </td>
                  <td>
                    <Counts counts={actions.map(({ action, count: value }) => [action, value])} />
                  </td>
                </tr>
              ))}
            </tbody>
          </Table>
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
          <Table label="Custom policies">
            <thead>
              <tr>
                <th scope="col">Policy</th>
                <th scope="col">Hook</th>
                <th scope="col">Routes</th>
                <th scope="col">Calls</th>
              </tr>
            </thead>
            <tbody>
              {custom.flatMap(({ policy, routes, hooks }) =>
                hooks.map(({ hook, results }) => (
                  <tr key={`${policy} ${hook}`}>
                    <th scope="row">
                      <Text>{policy}</Text>
                    </th>
                    <td>
                      <Code>{hook}</Code>
                    </td>
                    <td>
                      <Text>{routes.join(", ")}</Text>
                    </td>
                    <td>
                      <Counts counts={results.map(({ result, count: value }) => [result, value])} />
                    </td>
                  </tr>
                )),
              )}
            </tbody>
          </Table>
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
