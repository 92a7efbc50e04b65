import { duration, visible } from "./format.ts";
import { Card, Code, Facts, Pill, Problem, Text } from "./parts.tsx";
import type { TryResult, Verdict } from "./sender.tsx";

/** A response, and what the gateway noted about it. */
export function ResultView({ result }: { result: TryResult }) {
  const { response, noted, problem } = result;
  return (
    <Card
      title="Response"
      class="result"
      note={noted === undefined ? undefined : <Noted noted={noted} />}
    >
      {problem !== undefined && <Problem>{problem}</Problem>}
      {response !== undefined && (
        <>
          <p class="detail-head">
            <StatusPill status={response.status} />
          </p>
          <Json text={response.body} />
          {response.isCut && <p class="soft">There is more, or it did not end in time.</p>}
          <details class="more">
            <summary>{Object.keys(response.headers).length} headers</summary>
            <pre class="block">
              {visible(
                Object.entries(response.headers)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join("\n"),
              )}
            </pre>
          </details>
          {noted !== undefined && noted.notes.length > 0 && <Notes notes={noted.notes} />}
        </>
      )}
    </Card>
  );
}

/** A status with its tone. */
export function StatusPill({ status }: { status: number }) {
  return <Pill tone={status >= 500 ? "bad" : status >= 400 ? "warn" : "good"}>{status}</Pill>;
}

/** How long a request took, and who responded. */
export function Noted({ noted }: { noted: NonNullable<TryResult["noted"]> }) {
  const by = noted.reason ?? noted.upstream ?? "";
  return (
    <>
      {duration(noted.duration)}
      {by !== "" && (
        <>
          , <Text>{by}</Text>
        </>
      )}
    </>
  );
}

/** Notes of policies and backends. */
export function Notes({ notes }: { notes: readonly (readonly [string, string])[] }) {
  return (
    <details class="more">
      <summary>What the gateway noted</summary>
      <Facts facts={notes} />
    </details>
  );
}

/** A text, indented if it is JSON. */
export function Json({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: readers without a mouse scroll it with the arrow keys.
    <pre class="block" tabIndex={0}>
      {visible(pretty(text))}
    </pre>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

const WORDS = { yes: "passes", no: "is refused", depends: "depends" } as const;
const TONES = { yes: "good", no: "bad", depends: "warn" } as const;

/** The decision of the rules about a request that was not sent. */
export function VerdictView({ verdict }: { verdict: Verdict }) {
  if ("problem" in verdict) return <Problem>{verdict.problem}</Problem>;
  return (
    <Card title="Decision" class="result" note="nothing was sent">
      <p class="detail-head">
        <Pill tone={TONES[verdict.outcome]}>{WORDS[verdict.outcome]}</Pill>
      </p>
      <Json text={verdict.text} />
    </Card>
  );
}

/** A past request, to repeat it. */
export interface PastCall {
  readonly at: number;
  readonly title: string;
  readonly isGood: boolean;
  readonly note: string;
}

/** The requests of this page, the latest first. */
export function History<Call extends PastCall>({
  calls,
  onChoose,
}: {
  calls: readonly Call[];
  onChoose: (call: Call) => void;
}) {
  if (calls.length === 0) return null;
  return (
    <Card title="History" note="of this page; nothing is stored" class="flush">
      <ul class="choices">
        {calls.map((call) => (
          <li key={call.at}>
            <button type="button" onClick={() => onChoose(call)}>
              <span class="choice-title">
                <Code>{call.title}</Code>
                <Pill tone={call.isGood ? "good" : "bad"}>
                  <Text>{call.note}</Text>
                </Pill>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
