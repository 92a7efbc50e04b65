import { useState } from "preact/hooks";
import type { AccessData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { useData } from "./data.ts";
import { amount, visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import {
  Card,
  Code,
  CopyButton,
  Empty,
  Loading,
  PageHead,
  Pill,
  Problem,
  SearchField,
  Segmented,
  Select,
  Table,
  Text,
} from "./parts.tsx";

type Outcome = AccessData["decisions"][number]["outcome"];
type Route = AccessData["routes"][number];

const WORDS = { yes: "yes", no: "no", depends: "depends" } as const;
const TONES = { yes: "good", no: "bad", depends: "warn" } as const;
const OUTCOMES: readonly (readonly [Outcome | "all", string])[] = [
  ["all", "All"],
  ["yes", "Allowed"],
  ["depends", "Depends"],
  ["no", "Refused"],
];

interface Chosen {
  readonly route: string;
  readonly row: number;
  readonly caller: number;
}

/** Who may use what, decided by the compiled rules. */
export function AccessPage({ gateway }: PageProps) {
  const { data, problem } = useData<AccessData>(`access?version=${gateway.generation}`);
  const [name, setName] = useState("");
  const [words, setWords] = useState("");
  const [outcome, setOutcome] = useState<Outcome | "all">("all");
  const [chosen, setChosen] = useState<Chosen>();
  const keyed = (data?.routes ?? []).map((route) => ({ key: keyOf(route), route }));
  const shown = keyed.find(({ key }) => key === name) ?? keyed[0];
  return (
    <>
      <PageHead
        title="Access"
        about="Who may use which tool, model or path. Each column is a class of callers that the rules distinguish; credentials count as valid."
      />
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined ? (
        problem === undefined && <Loading what="Deciding, in a thread of its own" />
      ) : shown === undefined ? (
        <Empty icon="access" title="No route to decide about" />
      ) : (
        <>
          <div class="filters">
            <Select
              isQuiet
              label="Route"
              value={shown.key}
              options={keyed.map(({ key, route }) => [key, routeText(route)] as const)}
              onChange={(key) => {
                setName(key);
                setChosen(undefined);
              }}
            />
            <SearchField
              label="Filter tools, models and paths"
              placeholder="Tool, model, path …"
              value={words}
              onChange={setWords}
            />
            <Segmented label="Outcome" value={outcome} options={OUTCOMES} onChange={setOutcome} />
          </div>
          <Matrix
            data={data}
            route={shown.route}
            routeKey={shown.key}
            words={words}
            outcome={outcome}
            chosen={chosen?.route === shown.key ? chosen : undefined}
            onChoose={setChosen}
          />
        </>
      )}
    </>
  );
}

function keyOf({ name, listeners, place }: Route): string {
  return `${name} ${listeners.join(" ")} ${place}`;
}

function routeText({ name, rows }: Route): string {
  const kinds = new Set(rows.map(({ kind }) => kind));
  return `${name} (${[...kinds].map((kind) => amount(rows.filter((row) => row.kind === kind).length, kind)).join(", ")})`;
}

function Matrix({
  data,
  route,
  routeKey,
  words,
  outcome,
  chosen,
  onChoose,
}: {
  data: AccessData;
  route: Route;
  routeKey: string;
  words: string;
  outcome: Outcome | "all";
  chosen: Chosen | undefined;
  onChoose: (chosen: Chosen | undefined) => void;
}) {
  const outcomeOf = (cell: number | undefined) => data.decisions[cell ?? -1]?.outcome ?? "no";
  const rows = route.rows
    .map((row, index) => ({ row, index }))
    .filter(
      ({ row }) =>
        `${row.target ?? ""} ${row.name}`.toLowerCase().includes(words.toLowerCase()) &&
        (outcome === "all" || row.cells.some((cell) => outcomeOf(cell) === outcome)),
    );
  return (
    <div class={chosen === undefined ? "with-detail" : "with-detail open"}>
      <Card
        class="flush"
        title={<Text>{route.name}</Text>}
        note={
          <>
            <Code>{route.place}</Code>, {amount(route.callers.length, "class", "classes")} of
            callers
          </>
        }
      >
        {rows.length === 0 ? (
          <Empty title="Nothing matches" />
        ) : (
          <Table label={`Access of route ${visible(route.name)}`}>
            <thead>
              <tr>
                <th scope="col">{route.rows[0]?.kind ?? "item"}</th>
                {route.callers.map(({ text }) => (
                  <th scope="col" key={text} class="caller">
                    <Text>{text}</Text>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 300).map(({ row, index }) => (
                <tr key={`${row.target} ${row.kind} ${row.name}`}>
                  <th scope="row">
                    <Text>{row.name}</Text>
                    {row.target !== null && (
                      <span class="sub soft">
                        <Text>{row.target}</Text>
                      </span>
                    )}
                  </th>
                  {row.cells.map((cell, caller) => {
                    const result = outcomeOf(cell);
                    const isChosen = chosen?.row === index && chosen.caller === caller;
                    return (
                      <td key={route.callers[caller]?.text}>
                        <button
                          type="button"
                          class={`cell ${TONES[result]}${isChosen ? " chosen" : ""}`}
                          aria-expanded={isChosen}
                          aria-label={`${WORDS[result]}: ${visible(row.name)} for ${visible(route.callers[caller]?.text ?? "")}`}
                          onClick={() =>
                            onChoose(isChosen ? undefined : { route: routeKey, row: index, caller })
                          }
                        >
                          {WORDS[result]}
                        </button>
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </Table>
        )}
        {rows.length > 300 && <p class="before soft">300 of {rows.length} rows: use the filter.</p>}
        {route.undecided.length > 0 && (
          <p class="before">
            Callers of these rules were found only in part:{" "}
            {route.undecided.map((rule) => (
              <Code key={rule}>{rule}</Code>
            ))}
          </p>
        )}
      </Card>
      {chosen !== undefined && (
        <Decision data={data} route={route} chosen={chosen} onClose={() => onChoose(undefined)} />
      )}
    </div>
  );
}

function Decision({
  data,
  route,
  chosen,
  onClose,
}: {
  data: AccessData;
  route: Route;
  chosen: Chosen;
  onClose: () => void;
}) {
  const row = route.rows[chosen.row];
  const caller = route.callers[chosen.caller];
  const decision = data.decisions[row?.cells[chosen.caller] ?? -1];
  if (row === undefined || caller === undefined || decision === undefined) return null;
  const command =
    row.kind === "tool" || row.kind === "prompt"
      ? `gwc can call ${row.kind} ${row.name}${caller.credentials.length === 0 ? "" : ` --as '${asOf(caller.example)}'`}`
      : undefined;
  return (
    <Card
      class="detail"
      title="Decision"
      actions={
        <button type="button" class="icon-button" aria-label="Close the decision" onClick={onClose}>
          <Icon name="close" />
        </button>
      }
    >
      <p class="detail-head">
        <Pill tone={TONES[decision.outcome]}>{WORDS[decision.outcome]}</Pill>{" "}
        <strong>
          <Text>{row.name}</Text>
        </strong>{" "}
        for <Text>{caller.text}</Text>
      </p>
      <dl class="facts">
        {decision.policy !== null && (
          <div>
            <dt>Decided by</dt>
            <dd>{decision.policy}</dd>
          </div>
        )}
        <div>
          <dt>Reason</dt>
          <dd>
            <Text>{decision.reason}</Text>
          </dd>
        </div>
        {decision.when !== null && (
          <div>
            <dt>When</dt>
            <dd>
              <Code>{decision.when}</Code>
            </dd>
          </div>
        )}
        <div>
          <dt>Written at</dt>
          <dd>
            <Code>{decision.place}</Code>
          </dd>
        </div>
        {decision.example.map(({ request, isAllowed }) => (
          <div key={request}>
            <dt>Executed: {isAllowed ? "allowed" : "refused"}</dt>
            <dd>
              <Code>{request}</Code>
            </dd>
          </div>
        ))}
      </dl>
      {command !== undefined && (
        <div class="command">
          <Code>{command}</Code>
          <CopyButton text={command} label="Copy the command" />
        </div>
      )}
    </Card>
  );
}

/** Returns the identity as `gwc can --as` takes it: the value of the only credential, or all of them. */
function asOf(example: string): string {
  try {
    const all: unknown = JSON.parse(example);
    if (typeof all !== "object" || all === null) return example;
    const values = Object.values(all);
    return values.length === 1 ? JSON.stringify(values[0]) : example;
  } catch {
    return example;
  }
}
